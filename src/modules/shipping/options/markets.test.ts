import { expect, test } from 'vitest'
import { createProduct } from '../../../../test/support/catalog.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { catalogModule } from '../../catalog/index.ts'
import { pricingModule } from '../../pricing/index.ts'
import { shippingModule } from '../index.ts'

const EURO = {
  code: 'eu',
  name: 'Euro area',
  countries: ['DE'],
  currency: 'EUR',
  prices_include_tax: true,
  locale: 'de'
}
const TO_GERMANY = { destination: { country: 'DE' } }

/** A shop in dollars with a market in euros. Its method to Germany has rates in one currency, the other, or both. */
async function useTwoCurrencies() {
  const shop = await useShop({ modules: [pricingModule, catalogModule, shippingModule] })
  const admin = shop.as({ token: 'admin' })
  const made = async (path: string, body: object) => {
    const { status, json, text } = await admin.post(`/api/admin/${path}`, body)
    if (status !== 201) throw new Error(text)
    return json
  }
  const market = await made('markets', EURO)
  const zone = await made('shipping/zones', { name: 'Germany', areas: [{ country: 'DE' }] })
  const post = await made('shipping/methods', { kind: 'shipping', service: 'Post' })
  const rate = (fields: object) => made('shipping/rates', { method_id: post.id, zone_id: zone.id, ...fields })
  const ask = async (body: object, market?: string) => {
    const headers = market === undefined ? {} : { 'x-market': market }
    return (await shop.as(null).post('/api/shipping/rates', { ...TO_GERMANY, ...body }, headers)).json
  }
  const shown = async (body: object, market?: string) =>
    (await ask(body, market)).rates.map((each: Record<string, unknown>) => [each.amount, each.currency])
  return { ...shop, admin, market, zone, post, rate, made, ask, shown }
}

test('shipping rates are in the currency of the market of the request', async () => {
  const { rate, ask, shown } = await useTwoCurrencies()
  await rate({ amount: 900, free_from: 10_000 })
  await rate({ currency: 'EUR', amount: 500, free_from: 5_000 })
  const parcel = { weight_grams: 100, value: 7_000 }
  expect(await shown(parcel)).toEqual([[900, 'USD']])
  expect(await shown(parcel, 'default')).toEqual([[900, 'USD']])
  // The value of the goods is in euros.
  expect(await shown(parcel, 'eu')).toEqual([[0, 'EUR']])
  // The id names a method and a zone, so it stays when the buyer changes the market.
  expect((await ask(parcel)).rates[0].id).toBe((await ask(parcel, 'eu')).rates[0].id)
  expect((await ask(parcel, 'nowhere')).code).toBe('PRICING_MARKET_UNKNOWN')
})

test('a shipping method without a rate in the market’s currency is not offered there, and administrators see it', async () => {
  const { admin, post, zone, rate, shown } = await useTwoCurrencies()
  const parcel = { weight_grams: 100, value: 0 }
  const path = `/api/admin/shipping/methods/${post.id}`
  const missing = async () => (await admin.get(path)).json.missing_rates
  expect([await shown(parcel, 'eu'), await missing()]).toEqual([[], []])
  await rate({ amount: 900 })
  expect(await shown(parcel, 'eu')).toEqual([])
  const inEuro = [{ currency: 'EUR', markets: ['eu'], zone_ids: [zone.id] }]
  expect(await missing()).toEqual(inEuro)
  expect((await admin.patch(path, { service: 'Parcel' })).json.missing_rates).toEqual(inEuro)
  expect((await admin.get('/api/admin/shipping/methods')).json.items[0].missing_rates).toEqual(inEuro)
  const { id } = await rate({ currency: 'EUR', amount: 500 })
  expect([await shown(parcel, 'eu'), await missing()]).toEqual([[[500, 'EUR']], []])
  const { json } = await admin.get('/api/admin/shipping/rates?currency=EUR&count=true')
  expect([json.total, json.items[0].id]).toEqual([1, id])
})

test('for shipping rates, variants count with their price in the market, and one without a price is rejected', async () => {
  const shop = await useTwoCurrencies()
  const { admin, market, made, rate, ask, shown } = shop
  const [mug, cup] = (
    await createProduct(shop, {
      status: 'active',
      variants: [
        { sku: 'MUG', price: 1_000 },
        { sku: 'CUP', price: 1_000 }
      ]
    })
  ).variants
  const list = await made('price-lists', { name: 'Euro', currency: 'EUR' })
  const prices = [
    { variant_id: mug.id, price: 4_000 },
    { variant_id: mug.id, from_quantity: 3, price: 1_500 }
  ]
  await admin.put(`/api/admin/price-lists/${list.id}/prices`, { prices })
  await admin.patch(`/api/admin/markets/${market.id}`, { price_list_id: list.id })
  const bands = [
    { up_to: 4_499, amount: 1 },
    { up_to: 4_500, amount: 2 },
    { up_to: null, amount: 3 }
  ]
  await rate({ currency: 'EUR', table: { by: 'value', steps: bands } })
  const mugs = (quantity: number) => ({ items: [{ variant_id: mug.id, quantity }] })
  expect(await shown(mugs(1), 'eu')).toEqual([[1, 'EUR']])
  expect(await shown(mugs(3), 'eu')).toEqual([[2, 'EUR']])
  expect(await shown(mugs(2), 'eu')).toEqual([[3, 'EUR']])
  const oneAndTwo = { items: [...mugs(1).items, ...mugs(2).items] }
  expect(await shown(oneAndTwo, 'eu')).toEqual(await shown(mugs(3), 'eu'))
  // Everything is cached by now, unless a recent change message drops it again.
  const statementsOf = async () => (await shop.record(() => shown(mugs(1), 'eu'))).statements
  await expect.poll(statementsOf, { interval: 20 }).toEqual([])
  const refused = await ask({ items: [{ variant_id: cup.id, quantity: 1 }] }, 'eu')
  expect(refused).toMatchObject({ code: 'SHIPPING_VARIANT_UNAVAILABLE', variant_id: cup.id })
})

test('without the pricing module, shipping rates are in the currency of the shop', async () => {
  const shop = await useShop({ modules: [catalogModule, shippingModule] })
  const admin = shop.as({ token: 'admin' })
  const { json: pickup } = await admin.post('/api/admin/shipping/methods', {
    kind: 'pickup',
    service: 'Shop'
  })
  expect(pickup.missing_rates).toEqual([{ currency: 'USD', markets: ['default'], zone_ids: null }])
  await admin.post('/api/admin/shipping/rates', { method_id: pickup.id, amount: 100 })
  const body = { weight_grams: 1, value: 1, ...TO_GERMANY }
  const { json } = await shop.as(null).post('/api/shipping/rates', body, { 'x-market': 'eu' })
  expect(json.rates).toMatchObject([{ amount: 100, currency: 'USD' }])
})
