/**
 * A process of a shop that reads one list of requests per line, executes them simultaneously and prints the responses:
 * `node request-victim.ts URL SETTINGS [jobs|webhooks] [gift-cards] [providers]`. Without `jobs` and `webhooks` it runs no jobs, so that each of
 * its statements belongs to a request. `jobs` runs all due jobs; `webhooks` runs those of a shop with webhooks. `gift-cards` adds
 * the module of examples/gift-cards, `providers` that of provider-module.ts.
 */
import { flushCompileCache } from 'node:module'
import { createInterface } from 'node:readline'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { webhooksModule } from '../../src/modules/webhooks/index.ts'
import { openTestShop } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'
import type { SentRequest } from './crash-points.ts'

/** Loads it on demand, because it loads the whole program. */
const loadGiftCards = async () =>
  (await import('../../examples/gift-cards/gift-cards/index.ts')).giftCardsModule

const [databaseUrl = '', settings = '{}', ...parts] = process.argv.slice(2)
const runsJobs = parts.includes('jobs') || parts.includes('webhooks')
const shop = await openTestShop({
  databaseUrl,
  settings: JSON.parse(settings),
  isMigrated: true,
  runsSchedulesAtStart: runsJobs,
  ...(parts.includes('webhooks')
    ? { modules: [catalogModule, webhooksModule], instead: { orders: {} } }
    : {
        modules: [
          ...CHECKOUT_MODULES,
          ...(parts.includes('gift-cards') ? [await loadGiftCards()] : []),
          ...(parts.includes('providers') ? [(await import('./provider-module.ts')).providerModule] : [])
        ]
      })
})
if (!runsJobs) await shop.platform.outbox.stop()
// A killed process does not write its compiled code to the cache for the next one.
flushCompileCache()
process.stdout.write('ready\n')
for await (const line of createInterface(process.stdin)) {
  const requests: readonly SentRequest[] = JSON.parse(line)
  const answers = await Promise.all(
    requests.map(({ method, path, ...options }) => shop.request(method, path, options))
  )
  process.stdout.write(`${JSON.stringify(answers.map(({ status, text }) => ({ status, text })))}\n`)
}
process.exit(0)
