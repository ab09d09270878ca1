import fc from 'fast-check'
import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { customer } from '../../../testing.ts'

type Item = { readonly variantId: string; readonly price: number; readonly category: string | null }
type Way = { readonly amount: number; readonly category: string | null }
const WAYS: Record<string, Way> = {
  Standard: { amount: 500, category: null },
  Express: { amount: 1_500, category: 'untaxed' },
  Books: { amount: 333, category: 'books' },
  Pickup: { amount: 200, category: null }
}

/** Taxes of two rates, shipping methods of every kind of tax category, and codes of every class. */
async function useTaxes() {
  const shop = await useCheckouts()
  const { made, sell } = shop
  await made('taxes/categories', { code: 'books', name: 'Books' })
  for (const country of ['SE', 'DE']) {
    const zone = await made('taxes/zones', { name: country, country })
    for (const [category, rate_ppm] of Object.entries({ standard: 250_000, books: 60_000 }))
      await made('taxes/rates', { zone_id: zone.id, category, name: 'VAT', rate_ppm })
  }
  await made('markets', {
    code: 'de',
    name: 'Germany',
    countries: ['DE'],
    currency: 'USD',
    locale: 'de',
    prices_include_tax: true,
    tax_rounding: 'line'
  })
  const zone = await made('shipping/zones', { name: 'All', areas: [{ country: 'SE' }, { country: 'DE' }] })
  const optionServices = Object.entries(WAYS)
  for (const [service, { amount, category: tax_category }] of optionServices) {
    const kind = service === 'Pickup' ? 'pickup' : 'shipping'
    const method = await made('shipping/methods', { kind, service, tax_category })
    const zone_id = kind === 'shipping' ? { zone_id: zone.id } : {}
    await made('shipping/rates', { method_id: method.id, ...zone_id, amount })
  }
  for (const [code, fields] of Object.entries({
    THIRD: { class: 'line', effect: { type: 'percentage', percentage_ppm: 333_333 } },
    OFF: { class: 'order', effect: { type: 'amount', amounts: { USD: 333 } } },
    HALF: { class: 'shipping', effect: { type: 'percentage', percentage_ppm: 500_000 } }
  })) {
    const combines = ['line', 'order', 'shipping']
    const { id } = await made('promotions', { name: code, needs_code: true, combines, ...fields })
    await made(`promotions/${id}/codes`, { code })
  }
  const items: Item[] = []
  for (const [price, category] of [
    [1_999, null],
    [7, 'books'],
    [50_000, 'untaxed'],
    [333, 'standard']
  ] as const)
    items.push({ variantId: await sell({ price, tax_category: category }), price, category })
  // The sequence of lines decides rounding ties. In a checkout it is the sequence of the variants.
  return { ...shop, items: items.sort((a, b) => (a.variantId < b.variantId ? -1 : 1)) }
}

type Option = { id: string; method: string; service: string; amount: number }
type Component = { kind: string; rate_ppm: number | null; tax_category: string | null; amount: number }
const sorted = (components: readonly Component[]) =>
  components
    .map(({ kind, rate_ppm, tax_category, amount }) => `${kind} ${rate_ppm} ${tax_category} ${amount}`)
    .sort()

test('a pricing dry run and a checkout of the same basket return the same price', async () => {
  const { as, admin, items } = await useTaxes()
  const buyer = as(customer())
  const anyBasket = fc.record({
    chosen: fc.uniqueArray(fc.tuple(fc.nat({ max: items.length - 1 }), fc.integer({ min: 1, max: 7 })), {
      selector: ([index]) => index,
      minLength: 1
    }),
    country: fc.constantFrom('SE', 'DE'),
    service: fc.constantFrom(null, 'Standard', 'Express', 'Books'),
    codes: fc.subarray(['THIRD', 'OFF', 'HALF', 'UNKNOWN'])
  })
  await fc.assert(
    fc.asyncProperty(anyBasket, async ({ chosen, country, service, codes }) => {
      const lines = chosen
        .toSorted(([a], [b]) => a - b)
        .map(([at, quantity]) => ({ ...(items[at] as Item), quantity }))
      const body = {
        items: lines.map(({ variantId, quantity }) => itemOf(variantId, quantity)),
        shipping_address: { ...STOCKHOLM, country },
        codes
      }
      const made = await buyer.post('/api/checkouts', body)
      expect(made.status, made.text).toBe(201)
      const options: Option[] = made.json.groups[0].options.filter(
        ({ method }: Option) => method === 'shipping'
      )
      const option = options.find(each => each.service === service)?.id
      const { json } =
        option === undefined
          ? made
          : await buyer.put(`/api/checkouts/${made.json.id}`, { ...body, shipping_option: option })
      const run = await admin.post('/api/admin/promotions/dry-run', {
        lines: lines.map(({ price, category, quantity }) => ({ price, quantity, tax_category: category })),
        destination: { country },
        shipping_options: options.map(({ id, amount, service }) => ({
          id,
          amount,
          tax_category: WAYS[service]?.category
        })),
        ...(option !== undefined && { shipping_option: option }),
        codes
      })
      const { tax, total, shipping, components } = run.json
      expect({ tax, total, shipping, components: sorted(components) }, run.text).toEqual({
        tax: json.tax_total,
        total: json.total,
        shipping: json.shipping_total,
        components: sorted(json.components)
      })
    }),
    { numRuns: 60 }
  )
})

test('a shipping method without a tax category is taxed as standard, and an untaxed one is not taxed', async () => {
  const { as, items } = await useTaxes()
  const buyer = as(customer())
  const mug = items.find(({ price }) => price === 1_999) as Item
  const body = { items: [itemOf(mug.variantId)], shipping_address: STOCKHOLM }
  const made = await buyer.post('/api/checkouts', body)
  const { options }: { options: Option[] } = made.json.groups[0]
  const taxWith = async (service: string) => {
    const shipping_option = options.find(each => each.service === service)?.id
    const { json } = await buyer.put(`/api/checkouts/${made.json.id}`, { ...body, shipping_option })
    return json.groups[0].tax
  }
  expect([await taxWith('Standard'), await taxWith('Express'), await taxWith('Books')]).toEqual([125, 0, 20])
})
