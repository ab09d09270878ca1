import { expect, test } from 'vitest'
import { codesOf, itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

const TENTH = { class: 'order', effect: { type: 'percentage', percentage_ppm: 100_000 } }

/** A shop with a code that each customer may use once, and the price quotes of an administrator. */
async function useQuotes() {
  const shop = await useOrders()
  const { id: promotion_id } = await shop.made('promotions', {
    ...TENTH,
    name: 'Once',
    needs_code: true,
    uses_per_customer: 1
  })
  await shop.made(`promotions/${promotion_id}/codes`, { code: 'ONCE' })
  const quote = async (body: object) => {
    const { status, json } = await shop.admin.post('/api/admin/orders/quote', body)
    return { status, ...json }
  }
  return { ...shop, promotion_id, quote }
}

test("an administrator's quote has the price of items for a customer, and the reason why a code has no effect", async () => {
  const { as, mug, quote, promotion_id, traces, sql } = await useQuotes()
  const ada = customer()
  const body = { ...sent(mug, 2), codes: ['once', 'none'] }
  const before = await traces()
  const of = await quote({ ...body, customer_id: ada.id })
  expect(of).toMatchObject({
    status: 200,
    customer_id: ada.id,
    ready: true,
    currency: 'USD',
    subtotal: 2_000,
    discount_total: 200,
    shipping_total: 490,
    total: 2_290,
    items: [{ variant_id: mug, quantity: 2 }]
  })
  expect(of.groups[0].options.map(({ service }: { service: string }) => service)).toContain('Express')
  expect(of.findings).toMatchObject([
    { code: 'CODE_UNKNOWN', promotion_code: 'NONE', promotion_id: null, reason: 'There is no such code.' }
  ])
  const checkout = await as(ada).post('/api/checkouts', body)
  expect(checkout.json).toMatchObject({ total: of.total, quote_hash: of.quote_hash })
  // Nothing is stored or reserved.
  expect(await traces()).toEqual(before)
  expect(await sql('select count(*)::int as made from orders.checkouts')).toEqual([{ made: 1 }])

  const order = { ...body, codes: ['once'], expected_total: 2_290 }
  expect((await as(ada).post('/api/orders', order)).status).toBe(201)
  const used = await quote({ ...body, codes: ['once'], customer_id: ada.id })
  expect(used).toMatchObject({ total: 2_490, discount_total: 0 })
  expect(used.findings).toMatchObject([
    {
      code: 'CODE_CUSTOMER_LIMIT',
      promotion_code: 'ONCE',
      promotion_id,
      blocking: false,
      reason: 'This customer has used it 1 of 1 times (uses_per_customer).'
    }
  ])
  const guest = { ...body, codes: ['once'], email: 'bob@example.com' }
  expect(await quote(guest)).toMatchObject({ customer_id: null, ready: true, total: 2_290, findings: [] })
})

test('an administrator can quote checkouts and carts of any buyer', async () => {
  const { as, anonymous, mug, quote, withCart, traces, sql } = await useQuotes()
  const { id, buyer } = await withCart(itemOf(mug, 3))
  const to = { shipping_address: STOCKHOLM }
  expect(await quote({ cart: true, customer_id: id, ...to })).toMatchObject({ status: 200, total: 3_490 })
  const own = (await buyer.post('/api/checkouts', { cart: true, ...to, codes: ['none'] })).json
  const guests = (await anonymous.post('/api/checkouts/guest', sent(mug))).json
  const kept = () => sql('select * from orders.checkouts order by id')
  const before = [await kept(), await traces()]
  const { customer_id, total, quote_hash } = own
  expect(await quote({ checkout_id: own.id })).toMatchObject({
    status: 200,
    customer_id,
    total,
    quote_hash,
    findings: [{ code: 'CODE_UNKNOWN', reason: 'There is no such code.' }]
  })
  expect(await quote({ checkout_id: own.id, codes: ['once'] })).toMatchObject({ total: 3_190, findings: [] })
  const ofGuest = await quote({ checkout_id: guests.id })
  expect([ofGuest.customer_id, ofGuest.ready, codesOf(ofGuest)]).toEqual([null, false, ['EMAIL_MISSING']])
  expect([await kept(), await traces()]).toEqual(before)
  expect((await as(customer()).get(`/api/checkouts/${own.id}`)).status).toBe(404)
})

test("an administrator's quote with unclear, missing or too large input is rejected", async () => {
  const { mug, quote } = await useQuotes()
  const refused = async (body: object) => {
    const { status, code, errors = [] } = await quote(body)
    return [status, code, ...errors.map(({ path }: { path: string }) => path)]
  }
  const items = [itemOf(mug)]
  const unclear = (...paths: string[]) => [400, 'CHECKOUT_SOURCE_UNCLEAR', ...paths]
  expect(await refused({})).toEqual(unclear('body/items'))
  expect(await refused({ cart: true })).toEqual(unclear('body/customer_id'))
  expect(await refused({ cart: true, items, customer_id: newId() })).toEqual(unclear('body/items'))
  expect(await refused({ checkout_id: newId(), items, email: 'a@b.de' })).toEqual(
    unclear('body/items', 'body/email')
  )
  expect(await refused({ checkout_id: newId() })).toEqual([404, 'CHECKOUT_NOT_FOUND'])
  expect(await refused({ cart: true, customer_id: newId() })).toEqual([409, 'CART_EMPTY'])
  expect(await refused({ items, market: 'mars' })).toEqual([400, 'PRICING_MARKET_UNKNOWN'])
  const codes = Array.from({ length: 11 }, (_, index) => `C${index}`)
  expect(await refused({ items, codes })).toEqual([400, 'VALIDATION_FAILED', expect.any(String)])
  const many = Array.from({ length: 201 }, () => itemOf(newId()))
  expect(await refused({ items: many })).toEqual([400, 'VALIDATION_FAILED', expect.any(String)])
})
