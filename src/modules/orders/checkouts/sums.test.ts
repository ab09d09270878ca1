import fc from 'fast-check'
import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

/** A shop with every kind of variants, shipping options, codes, tax rates and markets. */
async function useEverything() {
  const shop = await useCheckouts()
  const { admin, made, sell } = shop
  const ways = await shop.usePost()
  const variants = [
    await sell({ price: 1_999, sale_price: 1_499 }),
    await sell({ price: 7, tax_category: 'food', weight_grams: 20 }),
    await sell({ price: 100_000_000, requires_shipping: false }),
    await sell({ price: 333, quantity_step: 3 }),
    await sell({ price: 0 }),
    await sell({ active: false }),
    newId()
  ]
  const list = await made('price-lists', { name: 'Yen', currency: 'JPY' })
  const prices = variants.slice(0, 3).map(variant_id => ({ variant_id, price: 1_501 }))
  await admin.put(`/api/admin/price-lists/${list.id}/prices`, { prices })
  for (const [code, fields] of Object.entries({
    jp: { currency: 'JPY', countries: ['JP'], prices_include_tax: true, price_list_id: list.id },
    de: {
      currency: 'USD',
      countries: ['DE'],
      prices_include_tax: true,
      tax_rounding: 'unit',
      cash_rounding: 5
    }
  }))
    await made('markets', { code, name: code, locale: 'en', ...fields })
  await made('taxes/categories', { code: 'food', name: 'Food' })
  for (const country of ['SE', 'DE', 'JP']) {
    const zone = await made('taxes/zones', { name: country, country })
    for (const [category, rate_ppm] of Object.entries({ standard: 190_000, food: 70_001 }))
      await made('taxes/rates', { zone_id: zone.id, category, name: 'VAT', rate_ppm })
  }
  const amounts = { USD: 333, JPY: 40 }
  for (const [code, fields] of Object.entries({
    THIRD: { class: 'line', effect: { type: 'percentage', percentage_ppm: 333_333 } },
    OFF: { class: 'order', effect: { type: 'amount', amounts } },
    FREE: { class: 'shipping', effect: { type: 'free_shipping' } }
  })) {
    const combines = ['line', 'order', 'shipping']
    const { id } = await made('promotions', { name: code, needs_code: true, combines, ...fields })
    await made(`promotions/${id}/codes`, { code })
  }
  return { ...shop, variants, ways: Object.values(ways).filter(way => typeof way === 'string') }
}

const plain = fc.string({ unit: fc.constantFrom(...'aåß中🙂 \'"\\<>%;-'), minLength: 1, maxLength: 30 })
const address = fc.record(
  {
    name: plain,
    company: plain,
    line1: plain,
    line2: plain,
    city: plain,
    region: plain,
    postal_code: fc.constantFrom('111 51', '10115', '1000001', 'x', '0'),
    country: fc.constantFrom('SE', 'DE', 'JP', 'US', 'AQ'),
    phone: fc.constantFrom('030 901820', '+46 8 123', 'x', '1'),
    vat_id: fc.constantFrom('DE136695976', 'x')
  },
  { requiredKeys: ['country'] }
)

type Sum = { amount: number; included: boolean }
const total = <T>(list: T[], of: (each: T) => number) => list.reduce((sum, each) => sum + of(each), 0)

test('the price components of any checkout add up to its total, and a second read returns the same', async () => {
  const { as, variants, ways } = await useEverything()
  const buyer = as(customer())
  const requestBody = fc.record(
    {
      items: fc.array(fc.tuple(fc.constantFrom(...variants), fc.constantFrom(1, 2, 3, 7, 100, 1_000_000)), {
        minLength: 1,
        maxLength: 12
      }),
      shipping_address: address,
      billing_address: address,
      shipping_option: fc.constantFrom(...ways, 'none'),
      codes: fc.uniqueArray(fc.constantFrom('third', 'OFF', ' free ', 'none'), { maxLength: 4 }),
      note: fc.string({ unit: 'grapheme', maxLength: 50 })
    },
    { requiredKeys: ['items'] }
  )
  const market = fc.constantFrom('', '?market=jp', '?market=de', '?market=default')
  const property = fc.asyncProperty(requestBody, market, async ({ items: pairs, ...said }, query) => {
    const items = pairs.map(([id, quantity]) => itemOf(id, quantity))
    const { status, json, text } = await buyer.post(`/api/checkouts${query}`, { ...said, items })
    expect(status, text).toBe(201)
    const { items: sold, groups, components, unavailable_items } = json
    expect(total(components as Sum[], each => (each.included ? 0 : each.amount))).toBe(json.total)
    const added = json.shipping_total + json.tax_added + json.cash_rounding
    expect(json.subtotal - json.discount_total + added).toBe(json.total)
    expect(total(sold as { line_total: number }[], each => each.line_total)).toBe(
      json.subtotal - json.discount_total
    )
    expect(total(groups as { shipping: number }[], each => each.shipping)).toBe(json.shipping_total)
    expect(total([...sold, ...groups] as { tax: number }[], each => each.tax)).toBe(json.tax_total)
    const promoted = (components as (Sum & { promotion_id: string | null })[]).filter(
      ({ promotion_id }) => promotion_id !== null
    )
    expect(total(json.discounts as { amount: number }[], each => each.amount)).toBe(
      total(promoted, each => 0 - each.amount)
    )
    expect(sold.length + unavailable_items.length).toBe(new Set(pairs.map(([id]) => id)).size)
    expect(json.total).toBeGreaterThanOrEqual(0)
    const blocks = json.findings.some(({ blocking }: { blocking: boolean }) => blocking)
    expect(json.ready).toBe(!blocks)

    const path = `/api/checkouts/${json.id}`
    expect((await buyer.get(path)).json).toEqual(json)
    const turned = { ...said, items: items.toReversed() }
    expect((await buyer.put(path + query, turned)).json).toMatchObject({
      quote_hash: json.quote_hash,
      total: json.total,
      version: 2
    })
  })
  await fc.assert(property, { numRuns: 150, seed: 1 })
})

test.each(['\u0000', '\ud800', 'a\u0000b'])(
  'a checkout with text that PostgreSQL cannot store is rejected: %j',
  async text => {
    const shop = await useCheckouts()
    const said = { items: [itemOf(await shop.sell())], shipping_address: STOCKHOLM }
    const bodies = [
      { ...said, note: text },
      { ...said, email: text },
      { ...said, codes: [text] },
      { ...said, shipping_address: { ...STOCKHOLM, city: text } }
    ]
    for (const body of bodies)
      expect((await shop.as(customer()).post('/api/checkouts', body)).status).toBe(400)
  }
)
