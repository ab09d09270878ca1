import { expect, test } from 'vitest'
import { customer } from '../../src/testing.ts'
import { itemOf, STOCKHOLM } from '../support/checkouts.ts'
import { TRANSFER } from '../support/orders.ts'
import { type CrashPoint, crashPointName, startVictims } from './crash-points.ts'
import { TIMEOUT_MS, useCrashShop } from './crash-shop.ts'

// Lane long: it takes 10 seconds. orders-kill-place.test.ts kills a process while it places an order.

const BUYERS = 8
/** Transactions that placed orders. Orders that arrive simultaneously share one. */
const CRASH_POINTS: readonly CrashPoint[] = [
  { statement: 'payments.insert_pending_payment', at: 'before' },
  { statement: 'payments.insert_pending_payment', at: 'behind' },
  { statement: 'orders.insert_unpaid_units', at: 'before' },
  { statement: 'orders.insert_unpaid_units', at: 'behind' },
  { statement: 'idempotency.mark_key_applied', at: 'before its commit' },
  { statement: 'idempotency.mark_key_applied', at: 'behind its commit' }
]

test(
  'when a process is killed while it places many orders in one transaction, each is complete or absent',
  async () => {
    const shop = await useCrashShop('manual')
    /** Every order has a different number of mugs. */
    const newOrder = async (units: number) => {
      const { token } = customer()
      const buyer = shop.as({ token })
      expect((await buyer.post('/api/cart', itemOf(shop.mug, units))).status).toBe(200)
      const body = { shipping_address: { ...STOCKHOLM, name: `Ada ${units}` }, payment: TRANSFER }
      return { buyer, units, request: shop.keyed({ method: 'POST', path: '/api/orders', token, body }) }
    }
    type Order = Awaited<ReturnType<typeof newOrder>>
    const ordersOf = async ({ buyer }: Order) => (await buyer.get('/api/orders')).json.items
    const unitsInCart = async ({ buyer }: Order) => (await buyer.get('/api/cart')).json.count
    const placed: string[] = []
    const retry = async (crashPoint: string, order: Order) => {
      const made = await shop.retried(crashPoint, order.request)
      expect(made, crashPoint).toMatchObject({
        status: 'pending',
        shipping_address: { name: `Ada ${order.units}` },
        items: [{ variant_id: shop.mug, quantity: order.units }]
      })
      expect(await ordersOf(order), crashPoint).toMatchObject([{ id: made.id, number: made.number }])
      expect(await unitsInCart(order), crashPoint).toBe(0)
      placed.push(made.id)
    }

    let index = 0
    for await (const victim of startVictims(CRASH_POINTS.length, shop, shop.settings)) {
      const crashPoint = CRASH_POINTS[index] as CrashPoint
      const orders = await Promise.all(Array.from({ length: BUYERS }, (_, at) => newOrder(at + 1)))
      await victim.crashDuringRequests(
        crashPoint,
        orders.map(({ request }) => request)
      )
      await shop.sql(`update cartwright.idempotency_keys set lease_until = now() where state = 'running'`)
      for (const order of orders) {
        const isThere = (await ordersOf(order)).length > 0
        expect(await unitsInCart(order), crashPointName(crashPoint)).toBe(isThere ? 0 : order.units)
      }
      for (const order of orders) await retry(crashPointName(crashPoint), order)
      index += 1
    }

    // Units reserved by killed processes without an order are released; the rest belongs to orders.
    await shop.sql(`update inventory.reservations set expires_at = now() where state = 'held'`)
    const owners = async () => (await shop.reserved(shop.mug)).map(({ order_id }) => order_id)
    await expect.poll(owners).toEqual(placed.toSorted())
    expect(new Set(placed).size).toBe(BUYERS * CRASH_POINTS.length)
    await shop.expectMatchingLedgers()
  },
  TIMEOUT_MS
)
