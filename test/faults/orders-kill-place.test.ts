import { expect, test } from 'vitest'
import { customer } from '../../src/testing.ts'
import { itemOf, STOCKHOLM } from '../support/checkouts.ts'
import type { CrashPoint } from './crash-points.ts'
import { TIMEOUT_MS, useCrashShop } from './crash-shop.ts'

const CODE = 'TENTH'
const BODY = {
  shipping_address: STOCKHOLM,
  payment: { provider: 'sandbox', method: 'card' },
  codes: [CODE]
}
const UNITS = 2

/** The rows of the table of crashes: the claim, the reservation, the order, what the provider is asked, the answer. */
const CRASH_POINTS: readonly CrashPoint[] = [
  { statement: 'idempotency.insert_keys', at: 'behind' },
  { statement: 'inventory.insert_reservations', at: 'before' },
  { statement: 'inventory.insert_reservations', at: 'behind its commit' },
  { statement: 'orders.insert_order', at: 'before' },
  { statement: 'orders.insert_order', at: 'behind' },
  { statement: 'idempotency.mark_key_applied', at: 'before its commit' },
  { statement: 'idempotency.mark_key_applied', at: 'behind its commit' },
  { statement: 'payments.insert_sent_payment', at: 'behind' },
  { statement: 'payments.upsert_facts', at: 'before' },
  { statement: 'payments.settle_operation', at: 'behind its commit' },
  { statement: 'idempotency.finish_keys', at: 'before' }
]

/** A shop in which each order is that of a new customer: their cart, and a code that is counted. */
async function useBuyers() {
  const shop = await useCrashShop('manual')
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  const tenth = { name: 'A tenth off', class: 'order', needs_code: true, uses_max: 1_000, effect }
  const { id } = await shop.made('promotions', tenth)
  await shop.made(`promotions/${id}/codes`, { code: CODE })
  return {
    ...shop,
    newOrder: async () => {
      const { token } = customer()
      expect((await shop.as({ token }).post('/api/cart', itemOf(shop.mug, UNITS))).status).toBe(200)
      return shop.keyed({ method: 'POST', path: '/api/orders', token, body: BODY })
    },
    ordersOf: async (token = '') => (await shop.as({ token }).get('/api/orders')).json.items,
    unitsInCart: async (token = '') => {
      const { items } = (await shop.as({ token }).get('/api/cart')).json
      return items.map(({ quantity }: { quantity: number }) => quantity)
    }
  }
}

test(
  'an order whose process is killed during its placement is placed or absent, and the retry makes it one',
  async () => {
    const shop = await useBuyers()
    const retry = async (crashPoint: string, order: Awaited<ReturnType<typeof shop.newOrder>>) => {
      const made = await shop.retried(crashPoint, order)
      expect(made, crashPoint).toMatchObject({ status: 'pending', total: 2_290 })
      expect(await shop.ordersOf(order.token), crashPoint).toMatchObject([
        { id: made.id, number: made.number }
      ])
      expect(await shop.unitsInCart(order.token), crashPoint).toEqual([])
      return made.id as string
    }
    const placed: string[] = []
    const withoutOrder: { crashPoint: string; order: Awaited<ReturnType<typeof shop.newOrder>> }[] = []
    await shop.atEachCrashPoint(CRASH_POINTS, shop.newOrder, async (crashPoint, index, order) => {
      const isThere = (await shop.ordersOf(order.token)).length > 0
      expect(await shop.unitsInCart(order.token), crashPoint).toEqual(isThere ? [] : [UNITS])
      // Half of the customers without an order do not retry.
      if (!isThere && index % 2 === 0) withoutOrder.push({ crashPoint, order })
      else placed.push(await retry(crashPoint, order))
    })
    await shop.sql(`update inventory.reservations set expires_at = now() where state = 'held'`)
    const owners = async () => (await shop.reserved(shop.mug)).map(({ order_id }) => order_id)
    await expect.poll(async () => (await owners()).filter(id => !placed.includes(String(id)))).toEqual([])
    await shop.expectMatchingLedgers()
    for (const { crashPoint, order } of withoutOrder) placed.push(await retry(crashPoint, order))

    // Each order is paid once.
    for (const id of placed) {
      await shop.act(id, 'pay')
      await shop.callBack(id)
    }
    await shop.expectMatchingLedgers()
    const objects = await shop.sandbox.objects()
    const amountsOf = (kind: string) =>
      objects.filter(({ object }) => object === kind).map(each => each.amount)
    const once = placed.map(() => 2_290)
    expect([amountsOf('payment_intent'), amountsOf('charge')]).toEqual([once, once])
    const [stock] = await shop.sql('select on_hand, reserved from inventory.levels where item_id = $1', [
      shop.mug
    ])
    expect(stock).toMatchObject({ on_hand: 1_000, reserved: UNITS * placed.length })
  },
  TIMEOUT_MS
)
