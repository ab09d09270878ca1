import { expect, test } from 'vitest'
import { compileAnswer } from '../../../../test/support/answer-schema.ts'
import { codesOf, itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'
import { type PricingApi, pricingModule } from '../../pricing/index.ts'
import { CheckoutResponse } from './schema.ts'

shareShops()

/** A shop with shipping methods, and a customer. */
async function useBuyer(settings: Record<string, string> = {}) {
  const shop = await useCheckouts({ settings })
  const ways = await shop.usePost()
  const ada = customer()
  const buyer = shop.as(ada)
  const begin = async (body: object, headers = {}) => {
    const { status, json, text } = await buyer.post('/api/checkouts', body, headers)
    expect(status, text).toBe(201)
    return json
  }
  return { ...shop, ways, ada, buyer, begin }
}
const pathOf = ({ id }: { id: string }) => `/api/checkouts/${id}`

test('a checkout response contains the price, with every declared field', async () => {
  const { sell, begin, buyer, ada } = await useBuyer()
  const [mug, code] = [await sell({ weight_grams: 300 }), await sell({ requires_shipping: false })]
  const note = 'Ring twice.\nThanks'
  const items = [itemOf(mug, 2), itemOf(code), itemOf(mug)]
  const json = await begin({ items, email: 'Ada@Example.com', shipping_address: STOCKHOLM, note })
  expect(compileAnswer(CheckoutResponse)(json)).toEqual([])
  expect(json).toMatchObject({
    customer_id: ada.id,
    status: 'open',
    ready: true,
    market: 'default',
    currency: 'USD',
    version: 1,
    email: 'ada@example.com',
    note,
    shipping_address: STOCKHOLM,
    billing_address: null,
    items: [
      { variant_id: mug, quantity: 3, unit_price: 1_000, line_total: 3_000, group: 'goods' },
      { variant_id: code, quantity: 1, unit_price: 1_000, line_total: 1_000, group: 'digital' }
    ],
    subtotal: 4_000,
    discount_total: 0,
    shipping_total: 490,
    tax_total: 0,
    total: 4_490,
    findings: []
  })
  const [digital, goods] = json.groups
  expect(digital).toMatchObject({ id: 'digital', method: 'digital', shipping_option: null, options: [] })
  expect(goods).toMatchObject({ id: 'goods', method: 'shipping', shipping: 490 })
  expect(goods.options.map(({ service, amount }: Record<string, unknown>) => [service, amount])).toEqual([
    ['In the shop', 0],
    ['Standard', 490],
    ['Express', 990]
  ])
  expect(goods.shipping_option).toBe(goods.options[1].id)
  const paid = json.components.filter(({ included }: { included: boolean }) => !included)
  expect(paid.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0)).toBe(json.total)
  const { json: read, headers } = await buyer.get(pathOf(json))
  expect(read).toEqual(json)
  expect(headers.etag).toBe('"1"')
  expect(Date.parse(json.expires_at) - Date.parse(json.created_at)).toBe(6 * 3_600_000)
})

test('an update of a checkout replaces its whole input', async () => {
  const { sell, begin, buyer } = await useBuyer()
  const [mug, cup] = [await sell(), await sell({ price: 300 })]
  const first = await begin({ items: [itemOf(mug)], shipping_address: STOCKHOLM, note: 'Soon', codes: ['x'] })
  const option = first.groups[0].options[2].id
  const body = {
    items: [itemOf(cup, 2)],
    shipping_address: { ...STOCKHOLM, country: 'DE', postal_code: '10115', phone: '030 901820' },
    shipping_option: option,
    billing_address: { ...STOCKHOLM, company: ' Engines AB ' }
  }
  const { status, json, headers } = await buyer.put(pathOf(first), body, { 'if-match': '"1"' })
  expect([status, headers.etag]).toEqual([200, '"2"'])
  expect(json).toMatchObject({
    id: first.id,
    version: 2,
    note: null,
    codes: [],
    shipping_option: option,
    total: 1_590,
    items: [{ variant_id: cup, quantity: 2 }],
    shipping_address: { country: 'DE', phone: '+4930901820' },
    billing_address: { company: 'Engines AB' }
  })
  expect(json.created_at).toBe(first.created_at)
  expect((await buyer.get(pathOf(first))).json).toEqual(json)

  const stale = await buyer.put(pathOf(first), body, { 'if-match': '"1"' })
  expect([stale.status, stale.json]).toMatchObject([412, { code: 'CHECKOUT_STALE', version: 2 }])
})

test("a customer's checkout of a cart reports a later change of the cart", async () => {
  const { sell, buyer, begin, ada } = await useBuyer()
  const [mug, cup] = [await sell(), await sell()]
  const empty = await buyer.post('/api/checkouts', { cart: true })
  expect([empty.status, empty.json.code]).toEqual([409, 'CART_EMPTY'])
  for (const id of [mug, cup]) await buyer.post('/api/cart', itemOf(id, 2))
  const made = await begin({ cart: true, shipping_address: STOCKHOLM })
  expect(made.items.map((item: { variant_id: string }) => item.variant_id)).toEqual([mug, cup])
  expect(made.ready).toBe(true)

  await buyer.delete(`/api/cart/items/${mug}`)
  const { json: changed } = await buyer.get(pathOf(made))
  expect([changed.ready, codesOf(changed), changed.items.length]).toEqual([false, ['CART_CHANGED'], 2])
  const { json: taken } = await buyer.put(pathOf(made), { cart: true, shipping_address: STOCKHOLM })
  expect([taken.ready, taken.items.length, taken.customer_id]).toEqual([true, 1, ada.id])
})

test.each([
  [{}, 'body/items', 'is required, unless cart is sent'],
  [{ cart: true, items: [itemOf(newId())] }, 'body/items', 'must not be sent together with cart'],
  [{ cart: false }, 'body/cart', 'must be true'],
  [{ items: [] }, 'body/items', 'must have at least 1 entry'],
  [{ items: Array(201).fill(itemOf(newId())) }, 'body/items', 'must have at most 200 entries'],
  [{ items: [itemOf(newId(), 0)] }, 'body/items/0/quantity', 'must be a whole number from 1 to 1000000'],
  [{ cart: true, codes: Array(11).fill('a') }, 'body/codes', 'must have at most 10 entries'],
  [{ cart: true, note: 'a'.repeat(2_001) }, 'body/note', 'must be at most 2000 characters long'],
  [{ cart: true, shipping_address: {} }, 'body/shipping_address/country', 'is required'],
  [
    { cart: true, shipping_address: { country: 'SE', planet: 'Mars' } },
    'body/shipping_address/planet',
    'is not known here'
  ],
  [{ cart: true, guest_cart_token: 'gct_x' }, 'body/guest_cart_token', 'is not known here'],
  [{ cart: true, customer_id: newId() }, 'body/customer_id', 'is not known here']
])('the checkout input %j is rejected for the field %s', async (body, path, message) => {
  const { buyer } = await useBuyer()
  const { status, json } = await buyer.post('/api/checkouts', body)
  expect([status, json.errors?.[0]]).toEqual([400, { path, message }])
})

test('a checkout with an incomplete address gets shipping rates by its country, and findings list what is missing', async () => {
  const { sell, begin, buyer } = await useBuyer()
  const items = [itemOf(await sell())]
  const nowhere = await begin({ items })
  expect([nowhere.ready, codesOf(nowhere), nowhere.total]).toEqual([
    false,
    ['SHIPPING_DESTINATION_MISSING'],
    1_000
  ])
  const put = async (shipping_address: object) =>
    (await buyer.put(pathOf(nowhere), { items, shipping_address })).json
  const begun = await put({ country: 'SE', postal_code: '12' })
  expect(begun.total).toBe(1_490)
  const fields = begun.findings.map(({ field, message }: Record<string, string>) => [field, message])
  expect(fields).toEqual([
    ['shipping_address/name', 'is required'],
    ['shipping_address/line1', 'is required'],
    ['shipping_address/city', 'is required'],
    ['shipping_address/postal_code', 'must be a postal code of SE']
  ])
  expect(begun.ready).toBe(false)
  const abroad = await put({ ...STOCKHOLM, country: 'NO', postal_code: '0150' })
  expect([abroad.ready, codesOf(abroad), abroad.total]).toEqual([false, ['SHIPPING_NOT_AVAILABLE'], 1_000])
  expect(abroad.groups[0]).toMatchObject({ shipping_option: null, options: [{ method: 'pickup' }] })
})

test('a checkout with pickup needs no address, and pickup is never chosen by default', async () => {
  const { sell, begin, ways } = await useBuyer()
  const items = [itemOf(await sell())]
  const fetched = await begin({ items, shipping_option: ways.pickup })
  expect(fetched).toMatchObject({ ready: true, total: 1_000, findings: [] })
  expect(fetched.groups).toMatchObject([{ method: 'pickup', shipping_option: ways.pickup }])
  // An unused shipping address may be incomplete. A billing address may not.
  const begun = { country: 'SE' }
  const said = { items, shipping_option: ways.pickup, shipping_address: begun }
  expect((await begin(said)).ready).toBe(true)
  const billed = await begin({ ...said, billing_address: { ...STOCKHOLM, city: undefined } })
  expect(billed.findings).toMatchObject([{ code: 'ADDRESS_INVALID', field: 'billing_address/city' }])
  const sent = await begin({ items, shipping_address: STOCKHOLM })
  expect(sent.groups).toMatchObject([{ method: 'shipping', shipping: 490 }])
  const gone = await begin({ items, shipping_address: STOCKHOLM, shipping_option: 'by-balloon' })
  expect([gone.ready, codesOf(gone), gone.total]).toEqual([true, ['SHIPPING_CHOICE_GONE'], 1_490])
})

test('checkout findings name each line that cannot be bought, and lines that are not for sale have no price', async () => {
  const { admin, sell, begin, buyer, request } = await useBuyer()
  const six = await sell({ quantity_step: 6, quantity_max: 12, price: 1 })
  const few = await sell({ price: 10 })
  const off = await sell({ price: 100 })
  const gone = await sell({ price: 1_000 })
  const never = newId()
  await admin.put(`/api/inventory/levels/${few}`, { on_hand: 2 })
  const items = [itemOf(six, 5), itemOf(few, 3), itemOf(off), itemOf(gone), itemOf(never)]
  await admin.patch(`/api/catalog/variants/${off}`, { active: false })
  await request('DELETE', `/api/catalog/variants/${gone}`, { token: 'admin' })
  const json = await begin({ items, shipping_address: STOCKHOLM })
  expect(json.findings).toEqual([
    {
      code: 'QUANTITY_RULE',
      message: expect.any(String),
      blocking: true,
      variant_id: six,
      quantity_min: 6,
      quantity_max: 12,
      quantity_step: 6
    },
    {
      code: 'STOCK_SHORT',
      message: expect.any(String),
      blocking: true,
      variant_id: few,
      available: 2
    },
    ...[off, gone, never].map(variant_id => ({
      code: 'VARIANT_UNAVAILABLE',
      message: expect.any(String),
      blocking: true,
      variant_id
    }))
  ])
  const line = { id: expect.any(String), metadata: {}, quantity: 1 }
  expect(json.unavailable_items).toEqual([
    { ...line, variant_id: off, name: 'Mug' },
    { ...line, variant_id: gone, name: 'Mug' },
    { ...line, variant_id: never, name: null }
  ])
  expect([json.ready, json.subtotal]).toEqual([false, 35])
  const bought = { items: [itemOf(six, 6), itemOf(few, 2)], shipping_address: STOCKHOLM }
  expect((await buyer.put(pathOf(json), bought)).json).toMatchObject({ ready: true, findings: [] })
  expect((await buyer.get(`/api/inventory/availability?variant_ids=${few}`)).json.items).toMatchObject([
    { available: 2 }
  ])
})

test('promotion codes of a checkout reduce the price, or have a finding with the reason', async () => {
  const { made, sell, begin } = await useBuyer()
  const promote = async (code: string, fields: object) => {
    const effect = { type: 'percentage', percentage_ppm: 100_000 }
    const body = { name: `All of ${code}`, class: 'order', effect, needs_code: true, ...fields }
    const { id } = await made('promotions', body)
    await made(`promotions/${id}/codes`, { code })
  }
  await promote('tenth', { priority: 1 })
  await promote('alone', {})
  await promote('large', { minimum: { USD: 5_000 }, minimum_quantity: 9 })
  await promote('free', { class: 'shipping', effect: { type: 'free_shipping' }, combines: ['order'] })
  const codes = ['Tenth', 'alone', 'large', 'none']
  const json = await begin({ items: [itemOf(await sell(), 2)], codes, shipping_address: STOCKHOLM })
  expect(json).toMatchObject({ ready: true, discount_total: 200, total: 2_290, codes })
  expect(json.items).toMatchObject([{ discounted_price: 1_000, discount: 200, line_total: 1_800 }])
  expect(json.discounts).toEqual([
    { promotion_id: expect.any(String), name: 'All of tenth', code: 'TENTH', amount: 200 }
  ])
  expect(json.findings).toMatchObject([
    { code: 'CODE_NOT_COMBINABLE', promotion_code: 'ALONE', conflicts_with: ['All of tenth'] },
    { code: 'CODE_MINIMUM', promotion_code: 'LARGE', missing_amount: 3_000, missing_quantity: 7 },
    { code: 'CODE_UNKNOWN', promotion_code: 'NONE', blocking: false }
  ])
})

test('the usage limit of a promotion code counts per customer', async () => {
  const { made, sell, begin, db, ada, apiOf, as } = await useBuyer()
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  const limit = { needs_code: true, uses_per_customer: 1 }
  const { id: promotionId } = await made('promotions', { name: 'Once', class: 'order', effect, ...limit })
  await made(`promotions/${promotionId}/codes`, { code: 'ONCE' })
  const body = { items: [itemOf(await sell())], codes: ['once'], shipping_address: STOCKHOLM }
  const first = await begin(body)
  expect([first.discount_total, codesOf(first)]).toEqual([100, []])
  const pricing = apiOf(pricingModule) as PricingApi
  const redeeming = pricing.serializedBy(db, [{ promotionId, code: 'ONCE' }])
  await redeeming.transaction(tx => pricing.redeem(tx, newId(), ada.id))
  const second = await begin(body)
  expect([second.discount_total, codesOf(second)]).toEqual([0, ['CODE_CUSTOMER_LIMIT']])
  const other = (await as(customer()).post('/api/checkouts', body)).json
  expect([other.discount_total, codesOf(other)]).toEqual([100, []])
})

test('prices of a checkout are current, and a finding reports a change since the last write', async () => {
  const { admin, sell, begin, buyer } = await useBuyer()
  const mug = await sell()
  const body = { items: [itemOf(mug)], shipping_address: STOCKHOLM }
  const first = await begin(body)
  await admin.patch(`/api/catalog/variants/${mug}`, { price: 1_200 })
  const { json: dearer } = await buyer.get(pathOf(first))
  expect(dearer).toMatchObject({ total: 1_690, ready: true, version: 1 })
  expect(dearer.findings).toMatchObject([{ code: 'PRICE_CHANGED', blocking: false }])
  expect(dearer.quote_hash).not.toBe(first.quote_hash)
  const { json: known } = await buyer.put(pathOf(first), body)
  expect([known.findings, known.quote_hash]).toEqual([[], dearer.quote_hash])
})

test('an expired checkout is readable for an hour, and an update extends its expiry', async () => {
  const { sell, begin, buyer, sql } = await useBuyer({ CARTWRIGHT__ORDERS__CHECKOUT_MINUTES: '5' })
  const body = { items: [itemOf(await sell())], shipping_address: STOCKHOLM }
  const made = await begin(body)
  const age = (minutes: number) =>
    sql(`update orders.checkouts set expires_at = expires_at - make_interval(mins => $1)`, [minutes])
  await age(4)
  const { json: later } = await buyer.put(pathOf(made), body)
  expect(Date.parse(later.expires_at)).toBeGreaterThanOrEqual(Date.parse(made.expires_at))
  expect((await buyer.get(pathOf(made))).json.status).toBe('open')
  await age(5)
  expect((await buyer.get(pathOf(made))).json).toMatchObject({ status: 'expired', ready: false, version: 2 })
  for (const refused of [await buyer.put(pathOf(made), body), await buyer.post(`${pathOf(made)}/cancel`)])
    expect([refused.status, refused.json.code]).toEqual([409, 'CHECKOUT_EXPIRED'])
})

test('a canceled checkout stays canceled and cannot be updated', async () => {
  const { sell, begin, buyer } = await useBuyer()
  const body = { items: [itemOf(await sell())], shipping_address: STOCKHOLM }
  const made = await begin(body)
  const stale = await buyer.post(`${pathOf(made)}/cancel`, undefined, { 'if-match': '"2"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'CHECKOUT_STALE'])
  const { status, json } = await buyer.post(`${pathOf(made)}/cancel`, undefined, { 'if-match': '"1"' })
  expect([status, json]).toMatchObject([200, { status: 'canceled', ready: false, version: 2, total: 1_490 }])
  expect((await buyer.post(`${pathOf(made)}/cancel`)).json).toEqual(json)
  const refused = await buyer.put(pathOf(made), body)
  expect([refused.status, refused.json.code]).toEqual([409, 'CHECKOUT_CANCELED'])
})
