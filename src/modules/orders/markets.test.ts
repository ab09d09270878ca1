import { expect, test } from 'vitest'
import { codesOf, itemOf, STOCKHOLM, useCheckouts } from '../../../test/support/checkouts.ts'
import { customer } from '../../testing.ts'

const YEN = { currency: 'JPY', countries: ['JP'], prices_include_tax: true }
const DINARS = { currency: 'KWD', countries: ['KW'], prices_include_tax: false, cash_rounding: 5 }
const TOKYO = { name: 'A', line1: '1-1', region: 'Tokyo', postal_code: '1000001', country: 'JP' }
const KUWAIT = { name: 'A', line1: '1', city: 'Kuwait', country: 'KW' }

/**
 * A shop in dollars that also sells in yen, with tax included, and in dinars, whose smallest unit is a
 * thousandth.
 */
async function useMarkets() {
  const shop = await useCheckouts()
  const { admin, made } = shop
  const [mug, cup] = [await shop.sell(), await shop.sell()]
  const market = async (code: string, fields: { currency: string }, price: number) => {
    const list = await made('price-lists', { name: code, currency: fields.currency })
    const prices = [{ variant_id: mug, price }]
    await admin.put(`/api/admin/price-lists/${list.id}/prices`, { prices })
    return made('markets', { code, name: code, locale: 'en', price_list_id: list.id, ...fields })
  }
  const jp = await market('jp', YEN, 1_499)
  const kw = await market('kw', DINARS, 3_335)
  const method = await made('shipping/methods', {
    kind: 'shipping',
    service: 'Post',
    tax_category: 'standard'
  })
  for (const [country, currency, amount, rate_ppm] of [
    ['JP', 'JPY', 350, 100_000],
    ['KW', 'KWD', 1_250, 50_000],
    ['SE', 'USD', 490, 250_000]
  ] as const) {
    const zone = await made('shipping/zones', { name: country, areas: [{ country }] })
    await made('shipping/rates', { method_id: method.id, zone_id: zone.id, currency, amount })
    const taxes = await made('taxes/zones', { name: country, country })
    await made('taxes/rates', { zone_id: taxes.id, category: 'standard', name: 'VAT', rate_ppm })
  }
  const buyer = shop.as(customer())
  return { ...shop, mug, cup, jp, kw, buyer }
}
type Json = Record<string, unknown>
const amountsOf = ({ market, currency, subtotal, shipping_total, tax_total, tax_added, total }: Json) => [
  ...[market, currency, subtotal, shipping_total, tax_total, tax_added, total]
]

test('each market has its own prices, taxes and shipping rates, in its currency', async () => {
  const { buyer, mug } = await useMarkets()
  const items = [itemOf(mug, 3)]
  const begin = async (path: string, shipping_address: object, headers = {}) => {
    const { status, json, text } = await buyer.post(
      `/api/checkouts${path}`,
      { items, shipping_address },
      headers
    )
    expect(status, text).toBe(201)
    expect((await buyer.get(`/api/checkouts/${json.id}`)).json).toEqual(json)
    return json
  }
  const sweden = await begin('', STOCKHOLM)
  expect(amountsOf(sweden)).toEqual(['default', 'USD', 3_000, 490, 873, 873, 4_363])
  const japan = await begin('', TOKYO)
  expect(amountsOf(japan)).toEqual(['jp', 'JPY', 4_497, 350, 441, 0, 4_847])
  expect(japan.tax_summary).toEqual([
    { tax_category: 'standard', rate_ppm: 100_000, net: 4_406, tax: 441, gross: 4_847, exempt: null }
  ])
  // 10.005 + 1.250, 5 % tax, and the cash rounding.
  const kuwait = await begin('', KUWAIT)
  expect(amountsOf(kuwait)).toEqual(['kw', 'KWD', 10_005, 1_250, 563, 563, 11_820])
  expect(kuwait.cash_rounding).toBe(2)
  expect(amountsOf(await begin('?market=kw', KUWAIT))).toEqual(amountsOf(kuwait))
  expect(amountsOf(await begin('', KUWAIT, { 'x-market': 'kw' }))).toEqual(amountsOf(kuwait))
  expect(new Set([sweden, japan, kuwait].map(({ quote_hash }) => quote_hash)).size).toBe(3)
  for (const { ready } of [sweden, japan, kuwait]) expect(ready).toBe(true)
})

test('a variant without a price in a market is not sold there, and no price is converted', async () => {
  const { admin, buyer, mug, cup, jp } = await useMarkets()
  const body = { items: [itemOf(mug), itemOf(cup)], shipping_address: TOKYO }
  const { json } = await buyer.post('/api/checkouts', body)
  expect(json).toMatchObject({ ready: false, subtotal: 1_499, currency: 'JPY' })
  expect(json.unavailable_items).toMatchObject([{ variant_id: cup, name: 'Mug', quantity: 1 }])
  expect(json.findings).toMatchObject([{ code: 'VARIANT_NOT_IN_MARKET', variant_id: cup, blocking: true }])
  await admin.patch(`/api/admin/markets/${jp.id}`, { exclusive: false })
  const dollars = await buyer.post('/api/checkouts?market=default', body)
  // There is no shipping rate to Japan in dollars.
  expect([dollars.json.currency, codesOf(dollars.json)]).toEqual(['USD', ['SHIPPING_NOT_AVAILABLE']])
})

test('a checkout keeps its named market until an update names another market or none', async () => {
  const { admin, buyer, mug, kw } = await useMarkets()
  await admin.patch(`/api/admin/markets/${kw.id}`, { exclusive: false })
  const body = { items: [itemOf(mug)], shipping_address: KUWAIT }
  const { json } = await buyer.post('/api/checkouts?market=jp', body)
  const path = `/api/checkouts/${json.id}`
  const marketOf = async (answer: ReturnType<typeof buyer.get>) => (await answer).json.market
  expect(await marketOf(buyer.get(path, undefined, { 'x-market': 'kw' }))).toBe('jp')
  expect(await marketOf(buyer.put(path, body, { 'x-market': 'default' }))).toBe('default')
  expect(await marketOf(buyer.put(path, body))).toBe('kw')
  expect(await marketOf(buyer.put(path, { items: body.items }))).toBe('default')
  expect(await marketOf(buyer.put(path, { items: body.items, billing_address: TOKYO }))).toBe('jp')
  const unknown = await buyer.put(`${path}?market=mars`, body)
  expect([unknown.status, unknown.json.code]).toEqual([400, 'PRICING_MARKET_UNKNOWN'])
})

test('after its market is deleted, a checkout has the price of another market, and a finding reports it', async () => {
  const { admin, buyer, mug, jp, kw } = await useMarkets()
  await admin.patch(`/api/admin/markets/${kw.id}`, { exclusive: false })
  const { json } = await buyer.post('/api/checkouts?market=jp', {
    items: [itemOf(mug)],
    shipping_address: KUWAIT
  })
  await admin.patch(`/api/admin/markets/${jp.id}`, { active: false })
  const gone = (await buyer.get(`/api/checkouts/${json.id}`)).json
  expect([gone.market, codesOf(gone)]).toEqual(['kw', ['MARKET_GONE', 'PRICE_CHANGED']])
})

test("a checkout to another market's country is priced there, and ordered only if the request names that market", async () => {
  const { anonymous, admin, mug, kw } = await useMarkets()
  const email = 'ada@example.com'
  const body = { email, items: [itemOf(mug)], shipping_address: KUWAIT }
  const cheap = { 'x-market': 'jp' }
  const made = await anonymous.post('/api/checkouts/guest', body, cheap)
  const right = await anonymous.post('/api/checkouts/guest', body)
  expect([made.json.market, made.json.total, codesOf(made.json), made.json.ready]).toEqual([
    ...['kw', right.json.total],
    ...[['MARKET_DESTINATION'], false]
  ])
  expect([codesOf(right.json), right.json.ready]).toEqual([[], true])
  const token = { 'x-checkout-token': made.json.checkout_token }
  const path = `/api/checkouts/guest/${made.json.id}`
  const refused = { status: 409, json: { code: 'ORDER_MARKET_DESTINATION', market: 'kw' } }
  const complete = () => anonymous.post(`${path}/complete`, { expected_total: made.json.total }, token)
  expect(await complete()).toMatchObject(refused)
  expect(await anonymous.post('/api/orders/guest', body, cheap)).toMatchObject(refused)
  expect((await anonymous.put(path, body, { ...token, 'x-market': 'kw' })).json).toMatchObject({
    ready: true
  })
  expect(await complete()).toMatchObject({ status: 201, json: { market: 'kw', total: made.json.total } })

  // Another market can be named while the shop allows it.
  await admin.patch(`/api/admin/markets/${kw.id}`, { exclusive: false })
  const { json } = await anonymous.post('/api/checkouts/guest', body, cheap)
  expect([json.market, codesOf(json)]).toEqual(['jp', ['SHIPPING_NOT_AVAILABLE']])
})

test('a named market can deliver to a country without a market of its own only if the default market allows it', async () => {
  const { admin, buyer, mug } = await useMarkets()
  const body = { items: [itemOf(mug)], shipping_address: STOCKHOLM }
  const { json } = await buyer.post('/api/checkouts?market=jp', body)
  expect([json.market, codesOf(json)]).toEqual(['default', ['MARKET_DESTINATION']])
  const { items } = (await admin.get('/api/admin/markets')).json
  const { id } = items.find((each: { is_default: boolean }) => each.is_default)
  expect((await admin.patch(`/api/admin/markets/${id}`, { exclusive: false })).status).toBe(200)
  expect((await buyer.get(`/api/checkouts/${json.id}`)).json.market).toBe('jp')
})
