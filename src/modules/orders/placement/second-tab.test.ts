import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { dyingBehindCommit } from '../../../../test/support/dying.ts'
import { useOrders } from '../../../../test/support/orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'

shareShops()

const [FIRST, SECOND, THIRD] = ['first-tab', 'second-tab', 'third-tab']

/** Two browser tabs that order the same: how a buyer prepares, orders and cancels. */
const BUYERS = {
  'a customer who completes a checkout': async (shop: Shop) => {
    const buyer = shop.as(customer())
    const said = { items: [itemOf(shop.mug)], shipping_address: STOCKHOLM }
    const { json } = await buyer.post('/api/checkouts', said)
    return ordering(
      key => buyer.post(`/api/checkouts/${json.id}/complete`, {}, key),
      id => buyer.post(`/api/orders/${id}/cancel`)
    )
  },
  'a guest who completes a checkout': async (shop: Shop) => {
    const said = { items: [itemOf(shop.mug)], shipping_address: STOCKHOLM, email: newEmail() }
    const { json } = await shop.anonymous.post('/api/checkouts/guest', said)
    const token = { 'x-checkout-token': json.checkout_token as string }
    return ordering(
      key => shop.anonymous.post(`/api/checkouts/guest/${json.id}/complete`, {}, { ...token, ...key }),
      (id, order_token) => cancelAsGuest(shop, id, order_token)
    )
  },
  'a customer who orders a cart': async (shop: Shop) => {
    const { buyer } = await shop.withCart(itemOf(shop.mug))
    return ordering(
      key => buyer.post('/api/orders', { shipping_address: STOCKHOLM }, key),
      id => buyer.post(`/api/orders/${id}/cancel`)
    )
  },
  'a guest who orders a guest cart': async (shop: Shop) => {
    const { json } = await shop.anonymous.post('/api/guest-cart', itemOf(shop.mug))
    const { guest_cart_token } = json
    const body = { guest_cart_token, email: newEmail(), shipping_address: STOCKHOLM }
    return ordering(
      key => shop.anonymous.post('/api/orders/guest', body, key),
      (id, order_token) => cancelAsGuest(shop, id, order_token)
    )
  }
}
type Shop = Awaited<ReturnType<typeof useOrders>>
type Answer = Awaited<ReturnType<Shop['anonymous']['post']>>
type Buyer = { order(attempt: string): Promise<Answer>; cancel(id: string, token: string): Promise<Answer> }
const kinds = Object.keys(BUYERS) as (keyof typeof BUYERS)[]

const newEmail = () => `ada-${crypto.randomUUID()}@example.com`

/** Each attempt has an idempotency key, which no other buyer uses. */
const ordering = (
  send: (headers: Record<string, string>) => Promise<Answer>,
  cancel: Buyer['cancel']
): Buyer => {
  const buyer = crypto.randomUUID()
  return { order: attempt => send({ 'idempotency-key': `${attempt}-${buyer}` }), cancel }
}
const cancelAsGuest = (shop: Shop, id: string, order_token: string) =>
  shop.anonymous.post(`/api/orders/guest/${id}/cancel`, undefined, { 'x-order-token': order_token })

/**
 * Both tabs read the cart or checkout before either order is written, so that the second finds the order of
 * the first.
 */
async function orderInBothTabs(shop: Shop, { order }: Buyer): Promise<{ made: Answer; found: Answer }> {
  await shop.stock(shop.mug, 10)
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin; lock orders.orders in share mode')
  const sent = [FIRST, SECOND].map(order)
  await until('both orders hold stock', async () => (await shop.reserved(shop.mug)).length === 2)
  await client.query('commit')
  const answers = await Promise.all(sent)
  const [made, found] = answers.toSorted((one, other) => other.status - one.status)
  expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 201])
  return { made, found } as { made: Answer; found: Answer }
}

describe.each(kinds)('ordering %s in two tabs', kind => {
  test("a second tab that orders the same cart or checkout gets the first tab's order, even after its cancellation", async () => {
    const shop = await useOrders()
    const buyer = await BUYERS[kind](shop)
    const { made, found } = await orderInBothTabs(shop, buyer)
    expect(found.json.id).toBe(made.json.id)
    const canceled = await buyer.cancel(made.json.id, made.json.order_token)
    expect([canceled.status, canceled.json.status]).toEqual([200, 'canceled'])

    const again = [await buyer.order(FIRST), await buyer.order(SECOND)]
    expect(again.map(({ status }) => status).toSorted()).toEqual([200, 201])
    for (const { json } of again) expect(json.id).toBe(made.json.id)
    expect(await shop.orders()).toHaveLength(1)
  })

  test("a second tab gets the first tab's order, even when the process died before the second response", async () => {
    const shop = await useOrders()
    const buyer = await BUYERS[kind](shop)
    const { made } = await dyingBehindCommit(shop, () => orderInBothTabs(shop, buyer))
    await buyer.cancel(made.json.id, made.json.order_token)

    const again = [await buyer.order(FIRST), await buyer.order(SECOND)]
    expect(again.map(({ status }) => status).toSorted()).toEqual([200, 201])
    for (const { json } of again) expect(json.id).toBe(made.json.id)
    expect(await shop.orders()).toHaveLength(1)
  })
})

test.each(kinds.slice(0, 2))(
  'ordering %s again after it was completed returns the same order, also after it is canceled',
  async kind => {
    const shop = await useOrders()
    const buyer = await BUYERS[kind](shop)
    const made = await buyer.order(FIRST)
    const found = await buyer.order(SECOND)
    expect([made.status, found.status, found.json.id]).toEqual([201, 200, made.json.id])
    const died = await dyingBehindCommit(shop, () => buyer.order(THIRD))
    expect([died.status, died.json.id]).toEqual([200, made.json.id])
    await buyer.cancel(made.json.id, made.json.order_token)
    for (const key of [SECOND, THIRD]) {
      const { status, json } = await buyer.order(key)
      expect([status, json.id]).toEqual([200, made.json.id])
    }
    expect(await shop.orders()).toHaveLength(1)
    expect((await buyer.order('a-new-attempt')).status).toBe(201)
  }
)
