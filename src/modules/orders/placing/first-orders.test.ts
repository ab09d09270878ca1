import { expect, test } from 'vitest'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

/** A shop with a tenth off first orders, with a code. */
async function useWelcome() {
  const shop = await useOrders()
  const { id } = await shop.made('promotions', {
    ...{ name: 'Welcome', class: 'order', effect: { type: 'percentage', percentage_ppm: 100_000 } },
    ...{ needs_code: true, first_order_only: true }
  })
  await shop.made(`promotions/${id}/codes`, { code: 'WELCOME' })
  const order = { ...sent(shop.mug), payment: TRANSFER }
  const asked = { ...sent(shop.mug), codes: ['WELCOME'] }
  return { ...shop, order, asked, welcomed: { ...order, ...asked } }
}
type Buyer = ReturnType<Awaited<ReturnType<typeof useWelcome>>['as']>

test('who has ordered, with a promotion or without, has no first order until that is canceled', async () => {
  const { as, order, asked, welcomed } = await useWelcome()
  const buyer = as(customer())
  const findings = async () =>
    (await buyer.post('/api/checkouts', asked)).json.findings.map(({ code }: { code: string }) => code)
  expect(await findings()).toEqual([])
  const { json: plain } = await buyer.post('/api/orders', order)
  expect(await findings()).toEqual(['CODE_FIRST_ORDER_ONLY'])
  expect((await buyer.post('/api/orders', welcomed)).json.code).toBe('ORDER_CODE_REFUSED')
  const { json: second } = await buyer.post('/api/orders', order)
  await buyer.post(`/api/orders/${plain.id}/cancel`)
  expect(await findings()).toEqual(['CODE_FIRST_ORDER_ONLY'])
  await buyer.post(`/api/orders/${second.id}/cancel`)
  expect(await findings()).toEqual([])
  expect((await buyer.post('/api/orders', welcomed)).status).toBe(201)
  expect(await findings()).toEqual(['CODE_FIRST_ORDER_ONLY'])
})

test('guests are told by their address, and an order that was claimed is the account’s, too', async () => {
  const { as, anybody, order, asked, welcomed } = await useWelcome()
  const [ada, other] = [{ email: 'ada@example.com' }, { email: 'bob@example.com' }]
  const { json: guest } = await anybody.post('/api/orders/guest', { ...order, ...ada })
  const ask = async (email: object) =>
    (await anybody.post('/api/orders/guest', { ...welcomed, ...email })).json.code
  expect(await ask(ada)).toBe('ORDER_CODE_REFUSED')
  expect(await ask(other)).toBeUndefined()
  const code = async (buyer: Buyer) =>
    (await buyer.post('/api/checkouts', asked)).json.findings.map((each: { code: string }) => each.code)
  const buyer = as(customer())
  expect(await code(buyer)).toEqual([])
  await buyer.post(`/api/orders/${guest.id}/claim`, undefined, { 'x-order-token': guest.order_token })
  expect(await code(buyer)).toEqual(['CODE_FIRST_ORDER_ONLY'])
  expect(await ask(ada)).toBe('ORDER_CODE_REFUSED')
})

test('of first orders at once one is, and who orders between the price and the order has none', async () => {
  const { as, order, asked, welcomed, sql } = await useWelcome()
  const buyers = [customer(), customer()].map(as)
  const answers = await Promise.all(
    buyers.flatMap(buyer => [welcomed, order, welcomed].map(body => buyer.post('/api/orders', body)))
  )
  const codes = answers.map(({ status, json }) => (status === 201 ? 'made' : json.code))
  for (const code of codes)
    expect(['made', 'ORDER_CODE_REFUSED', 'PRICING_FIRST_ORDER_TAKEN']).toContain(code)
  const used = await sql(
    'select customer, count(*)::int as orders from pricing.redemptions group by customer'
  )
  expect(used.filter(({ orders }) => orders !== 1)).toEqual([])

  const late = as(customer())
  const { json: checkout } = await late.post('/api/checkouts', asked)
  await late.post('/api/orders', order)
  const { json: refused } = await late.post(`/api/checkouts/${checkout.id}/complete`, { payment: TRANSFER })
  expect(refused.code).toBe('ORDER_PRICE_CHANGED')
})

test('a guest has one first order, whichever sub-address of a mailbox they give', async () => {
  const { anybody, welcomed } = await useWelcome()
  const order = (email: string) => anybody.post('/api/orders/guest', { ...welcomed, email })
  expect((await order('ada.lovelace@gmail.com')).status).toBe(201)
  for (const email of ['adalovelace@gmail.com', 'ada.lovelace+2@gmail.com', 'AdaLovelace+3@googlemail.com'])
    expect((await order(email)).json.code).toBe('ORDER_CODE_REFUSED')
  for (const email of ['ada.lovelace@example.com', 'ada.lovelace+2@example.com'])
    expect((await order(email)).status).toBe(201)
})
