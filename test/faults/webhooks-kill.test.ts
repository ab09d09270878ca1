import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { webhooksModule } from '../../src/modules/webhooks/index.ts'
import { openTestShop } from '../../src/testing.ts'
import { CERTIFICATE } from '../support/receiver-certificate.ts'
import { PATIENCE, useWebhooks } from '../support/webhooks.ts'
import { type CrashPoint, crashPointName, startVictim } from './crash-points.ts'
import { until } from './until.ts'

const CRASH_POINTS: readonly CrashPoint[] = [
  { statement: 'webhooks.claim_delivery', at: 'behind' },
  { statement: 'webhooks.record_attempt', at: 'before' },
  { statement: 'webhooks.record_attempt', at: 'behind' }
]
const ORDERS = 3
const SETTINGS = { CARTWRIGHT__HTTP__PRIVATE_HOSTS: '["127.0.0.1"]' }

/** Programs of this test trust the receiver. */
async function trustReceiver() {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-receiver-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'receiver.pem')
  await writeFile(file, CERTIFICATE)
  vi.stubEnv('NODE_EXTRA_CA_CERTS', file)
  onTestFinished(() => void vi.unstubAllEnvs())
}

test('every webhook arrives although its senders are killed, and repeats have the same id', {
  timeout: 120_000
}, async () => {
  await trustReceiver()
  const shop = await useWebhooks(SETTINGS)
  const { received, replies } = shop.receiver
  await shop.subscribe()
  await shop.platform.outbox.stop()
  const placed: string[] = []
  /** Leases of killed processes expire, and further events are emitted. */
  const afterCrash = async (orders: number) => {
    for (let order = 0; order < orders; order += 1) placed.push(await shop.emitOrderPlaced())
    await shop.sql('update webhooks.deliveries set due_at = now() where lease is not null')
    await shop.sql('update cartwright.jobs set due_at = now(), lease = null where lease is not null')
  }
  for (const crashPoint of CRASH_POINTS) {
    const before = received.length
    const victim = await startVictim(shop, SETTINGS, 'webhooks')
    await victim.crashInBackground(crashPoint, () => afterCrash(ORDERS))
    if (crashPoint.statement.includes('settle'))
      expect(received.length, crashPointName(crashPoint)).toBeGreaterThan(before)
  }
  // A webhook whose request arrived and gets no response.
  let held: string | undefined
  const hold = Array.from(
    { length: ORDERS * (CRASH_POINTS.length + 1) },
    () => (_response: unknown, request: IncomingMessage) => {
      held = String(request.headers['webhook-id'])
    }
  )
  replies.push(...hold)
  const victim = await startVictim(shop, SETTINGS, 'webhooks')
  await afterCrash(ORDERS)
  await until('the receiver holds a request', async () => held !== undefined, 30_000)
  await victim.kill()
  replies.length = 0

  const { databaseUrl } = shop
  const nextProcess = await openTestShop({
    instead: { orders: {} },
    modules: [catalogModule, webhooksModule],
    databaseUrl,
    settings: SETTINGS
  })
  onTestFinished(() => nextProcess.close())
  await afterCrash(0)
  await expect
    .poll(() => shop.deliveriesOf('?status=delivered&limit=100').then(all => all.length), PATIENCE)
    .toBe(placed.length)
  const tries = Map.groupBy(received, ({ headers }) => String(headers['webhook-id']))
  const orderOf = (body: string) => JSON.parse(body).data.order_id
  for (const [id, same] of tries) expect(new Set(same.map(({ body }) => body)).size, id).toBe(1)
  // The webhooks of each order have one id.
  expect([...tries.values()].map(([first]) => orderOf(first?.body ?? '')).sort()).toEqual(placed.toSorted())
  expect(tries.get(held ?? '')?.length).toBeGreaterThan(1)
  // Webhooks that were sent but not recorded are sent again.
  expect(received.length - tries.size).toBeGreaterThanOrEqual(2)
})
