import { setTimeout as delay } from 'node:timers/promises'
import { readLedger } from './ledger.ts'
import type { ChaosStage } from './stage.ts'

const LOOK_EVERY_MS = 500
const HURRY_EVERY_MS = 3_000
/** Number of consecutive checks without waiting work. */
const QUIET_TIMES = 3

/** `orders.expiry.minutes` of the stage. */
const EXPIRY = '1 minute'

const WAITING = `
  select (select count(*)::int from payments.operations where settled_at is null) as "operations at providers",
    (select count(*)::int from payments.events where state = 'received') as "callbacks",
    (select count(*)::int from inventory.requests where done_at is null) as "stock requests",
    (select count(*)::int from inventory.reservations where state = 'held') as "held reservations",
    (select count(*)::int from orders.orders
      where cancel_requested_at is not null and state <> 'canceled') as "cancellations",
    (select count(*)::int from orders.orders where state = 'pending' and cancel_requested_at is null
      and expires_at <= now()) as "orders that were not paid in time",
    (select count(*)::int from webhooks.deliveries where status = 'pending') as "webhooks",
    (select count(*)::int from notifications.messages where status = 'pending') as "mails",
    (select count(*)::int from cartwright.jobs where id <> 0) as "jobs"`
/** Pauses before a retry can last hours, which a test cannot wait for. The retried work is unchanged. */
const SHORTEN_PAUSES = [
  'update payments.operations set next_check_at = now() where settled_at is null',
  'update payments.events set next_check_at = now() where next_check_at is not null',
  // Otherwise the last orders would expire one after the other for a minute, with mails and webhooks.
  `update orders.orders set created_at = created_at - interval '${EXPIRY}', expires_at = expires_at - interval '${EXPIRY}'
   where state = 'pending' and expires_at between now() and now() + interval '${EXPIRY}'`,
  `update inventory.reservations set expires_at = now() where state = 'held'`,
  `update webhooks.deliveries set due_at = now() where status = 'pending' and lease is null and due_at > now()`,
  `update cartwright.jobs set due_at = now() where lease is null and due_at > now() and due_at <> 'infinity'`,
  // A schedule whose process died several times while it ran is held for minutes, and otherwise as long as any job.
  `update cartwright.jobs set due_at = now() + interval '15 seconds'
   where id = 0 and lease is not null and due_at > now() + interval '15 seconds'`
]

export type SettleResult = { milliseconds: number; slowest: readonly string[]; waiting: readonly string[] }

/** Waits until nothing is to be done any more; says how long that took, what took longest, and what still waits after so many seconds. */
export async function settle(stage: ChaosStage, secondsMax: number): Promise<SettleResult> {
  const startedAt = performance.now()
  let hurriedAt = Number.NEGATIVE_INFINITY
  let quiet = 0
  let slowest: string[] = []
  for (;;) {
    const now = performance.now()
    if (now - hurriedAt > HURRY_EVERY_MS) {
      await shortenPauses(stage)
      hurriedAt = now
    }
    const waiting = await listWaiting(stage).catch(error => [String(error)])
    quiet = waiting.length === 0 ? quiet + 1 : 0
    if (waiting.length > 0) slowest = waiting
    const milliseconds = performance.now() - startedAt
    if (quiet === QUIET_TIMES || milliseconds > secondsMax * 1_000) return { milliseconds, slowest, waiting }
    await delay(LOOK_EVERY_MS)
  }
}

async function shortenPauses({ site, sandbox }: ChaosStage): Promise<void> {
  for (const text of SHORTEN_PAUSES) await site.sql(text).catch(() => {})
  await sandbox.ask('/test/webhooks', {})
}

async function listWaiting({ site, sandbox }: ChaosStage): Promise<string[]> {
  const [row = {}] = await site.sql(WAITING)
  const { waiting } = await readLedger(sandbox.folder)
  return Object.entries({ ...row, 'callbacks to come': waiting })
    .filter(([, count]) => Number(count) > 0)
    .map(([what, count]) => `${count} ${what}`)
}
