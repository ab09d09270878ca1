import { expect, test } from 'vitest'
import { openTestShop } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'
import { sent, TRANSFER } from '../support/orders.ts'
import { CARD } from '../support/paid-orders.ts'
import { type CrashPoint, crashPointName, startVictim } from './crash-points.ts'
import { TIMEOUT_MS, useCrashShop } from './crash-shop.ts'

// Lane long: it takes 20 seconds. orders-kill-place.test.ts kills a process while it places an order.

/** From the payment event to the orders that lost units. */
const CRASH_POINTS: readonly CrashPoint[] = [
  { statement: 'inventory.confirm_reservations', at: 'behind' },
  { statement: 'inventory.insert_requests', at: 'before its commit' },
  { statement: 'inventory.insert_requests', at: 'behind its commit' },
  { statement: 'inventory.delete_contested', at: 'before' },
  { statement: 'inventory.add_contested', at: 'behind' },
  { statement: 'inventory.finish_requests', at: 'before its commit' },
  { statement: 'inventory.finish_requests', at: 'behind its commit' },
  { statement: 'orders.note_canceled_for', at: 'behind' },
  { statement: 'orders.note_canceled_for', at: 'behind its commit' }
]
const UNITS = 2

/** `npm run faults:deaths` also tests immediate capture. */
const CAPTURES =
  process.env.EVERY_STATEMENT === undefined ? (['manual'] as const) : (['manual', 'automatic'] as const)

test.each(CAPTURES)(
  'when a process is killed while it cancels an unpaid order for a paid one, both end correctly (capture: %s)',
  async capture => {
    const shop = await useCrashShop(capture)
    const { databaseUrl, settings } = shop
    let done = 0
    for (const crashPoint of CRASH_POINTS) {
      await shop.stock(shop.mug, done + UNITS)
      const place = async (payment: object) => {
        const { status, json, text } = await shop.buyer.post('/api/orders', {
          ...sent(shop.mug, UNITS),
          payment
        })
        expect(status, text).toBe(201)
        return String(json.id)
      }
      const [unpaid, card] = [await place(TRANSFER), await place(CARD)]
      const victim = await startVictim(shop, settings, 'jobs')
      // Only the dying process works.
      await shop.platform.outbox.stop()
      await shop.act(card, 'pay')
      const { path, body, headers } = await shop.callbackOf(card)
      await victim.crashWhileHandling(crashPoint, { method: 'POST', path, headers, body: body.toString() })
      await shop.sql('update cartwright.jobs set due_at = now(), lease = null where lease is not null')
      const nextProcess = await openTestShop({ modules: CHECKOUT_MODULES, databaseUrl, settings })
      try {
        // The provider repeats its callback until it is acknowledged.
        await shop.callBack(card)
        await shop.becomes(card, { status: 'paid' })
        await shop.becomes(unpaid, { status: 'canceled' })
        done += UNITS
        expect(await shop.reserved(shop.mug), crashPointName(crashPoint)).toHaveLength(done / UNITS)
        await shop.expectMatchingLedgers()
      } finally {
        await nextProcess.close()
      }
    }
    expect(await shop.sql('select * from inventory.contested')).toEqual([])
  },
  TIMEOUT_MS
)
