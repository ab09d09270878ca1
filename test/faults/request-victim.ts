/**
 * A process of a shop that sends itself what it is told, a list of requests a line, all at once, and says what they were answered:
 * `node request-victim.ts URL SETTINGS`. It does no jobs, so that whatever it sends belongs to its request; with `jobs` behind
 * that, it does all that are due; with `webhooks`, those of a shop that tells others what happens.
 */
import { flushCompileCache } from 'node:module'
import { createInterface } from 'node:readline'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { webhooksModule } from '../../src/modules/webhooks/index.ts'
import { openTestShop } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'
import type { Sent } from './deaths.ts'

const [databaseUrl = '', settings = '{}', jobs] = process.argv.slice(2)
const shop = await openTestShop({
  databaseUrl,
  settings: JSON.parse(settings),
  isMigrated: true,
  runsSchedulesAtStart: jobs !== undefined,
  ...(jobs === 'webhooks'
    ? { modules: [catalogModule, webhooksModule], instead: { orders: {} } }
    : { modules: CHECKOUT_MODULES })
})
if (jobs === undefined) await shop.platform.outbox.stop()
// One that is killed would not keep its compiled code for the next one.
flushCompileCache()
process.stdout.write('ready\n')
for await (const line of createInterface(process.stdin)) {
  const requests: readonly Sent[] = JSON.parse(line)
  const answers = await Promise.all(
    requests.map(({ method, path, ...options }) => shop.request(method, path, options))
  )
  process.stdout.write(`${JSON.stringify(answers.map(({ status, text }) => ({ status, text })))}\n`)
}
process.exit(0)
