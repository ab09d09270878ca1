import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { customer } from '../../../testing.ts'

const ACME = { company: 'Acme AB', vat_id: 'SE556012579001', reason: 'Intra-community supply' }
const BERLIN = {
  ...STOCKHOLM,
  line1: 'Unter den Linden 1',
  city: 'Berlin',
  postal_code: '10117',
  country: 'DE'
}

/** A shop with a tax of 25 % in Sweden and 20 % in Germany, and a customer. */
async function useTaxed(market: object = {}) {
  const shop = await useCheckouts()
  const { admin, made, sell, usePost } = shop
  const { pickup } = await usePost()
  const rates = [
    ['SE', 250_000],
    ['DE', 200_000]
  ] as const
  for (const [country, rate_ppm] of rates) {
    const { id: zone_id } = await made('taxes/zones', { name: country, country })
    await made('taxes/rates', { zone_id, category: 'standard', name: 'VAT', rate_ppm })
  }
  const { items } = (await admin.get('/api/admin/markets')).json
  await admin.patch(`/api/admin/markets/${items[0].id}`, market)
  const mug = await sell()
  const buyer = customer()
  const begin = async (caller: typeof buyer | null, shipping_address: object, fields: object = {}) => {
    const path = caller === null ? '/api/checkouts/guest' : '/api/checkouts'
    const { json, status, text } = await shop
      .as(caller)
      .post(path, { items: [itemOf(mug)], shipping_address, ...fields })
    expect(status, text).toBe(201)
    return json
  }
  const exempt = (fields: object = {}) =>
    made('taxes/exemptions', { customer_id: buyer.id, ...ACME, ...fields })
  return { ...shop, pickup, buyer, begin, exempt }
}
const taxOf = ({ tax_total, total }: { tax_total: number; total: number }) => [tax_total, total]

test('a tax-exempt customer pays no tax, and the checkout has the reason; other buyers pay tax', async () => {
  const { as, buyer, begin, exempt, admin } = await useTaxed()
  const before = await begin(buyer, STOCKHOLM)
  // A mug for 10.00, delivery for 4.90, and a quarter of both.
  expect([...taxOf(before), before.tax_exemption]).toEqual([373, 1_863, null])
  const { id } = await exempt()
  const now = (await as(buyer).get(`/api/checkouts/${before.id}`)).json
  expect([...taxOf(now), now.tax_exemption]).toEqual([0, 1_490, ACME])
  expect(now.findings.map(({ code }: { code: string }) => code)).toContain('PRICE_CHANGED')
  const summary = { tax_category: 'standard', rate_ppm: 250_000, net: 1_490, tax: 0, gross: 1_490 }
  expect(now.tax_summary).toEqual([{ ...summary, exempt: ACME.reason }])
  const taxes = now.components.filter(({ kind }: { kind: string }) => kind === 'tax')
  expect(taxes).toHaveLength(2)
  for (const tax of taxes) expect(tax).toMatchObject({ amount: 0, included: false, exempt: ACME.reason })

  const others = [await begin(customer(), STOCKHOLM), await begin(null, STOCKHOLM)]
  for (const other of others) {
    expect([...taxOf(other), other.tax_exemption]).toEqual([373, 1_863, null])
    expect(other.tax_summary).toMatchObject([{ tax: 373, exempt: null }])
  }
  await admin.delete(`/api/admin/taxes/exemptions/${id}`)
  expect(taxOf(await begin(buyer, STOCKHOLM))).toEqual([373, 1_863])
})

test('a tax exemption subtracts the tax that prices include', async () => {
  const { buyer, begin, exempt } = await useTaxed({ prices_include_tax: true })
  await exempt()
  const { total, tax_added, tax_total, components, tax_summary } = await begin(buyer, STOCKHOLM)
  expect([total, tax_added, tax_total]).toEqual([1_192, -298, 0])
  expect(tax_summary).toMatchObject([{ net: 1_192, tax: 0, gross: 1_192, exempt: ACME.reason }])
  const paid = components.filter(({ included }: { included: boolean }) => !included)
  expect(paid.reduce((sum: number, { amount }: { amount: number }) => sum + amount, 0)).toBe(1_192)
})

test('a tax exemption applies in its countries and in its period', async () => {
  const { buyer, begin, exempt } = await useTaxed()
  await exempt({ reason: 'Long ago', ends_at: '2020-12-31' })
  await exempt({ reason: 'Not yet', starts_at: '2999-01-01' })
  await exempt({ countries: ['DE', 'FR'] })
  expect(taxOf(await begin(buyer, STOCKHOLM))).toEqual([373, 1_863])
  const german = await begin(buyer, BERLIN)
  expect([...taxOf(german), german.tax_exemption]).toEqual([0, 1_490, ACME])
})

test('whether picked-up goods are tax-exempt depends on the country of the market', async () => {
  const { buyer, begin, exempt, pickup } = await useTaxed({ countries: ['DE'] })
  await exempt({ countries: ['SE'] })
  expect(taxOf(await begin(buyer, STOCKHOLM))).toEqual([0, 1_490])
  expect(taxOf(await begin(buyer, STOCKHOLM, { shipping_option: pickup }))).toEqual([200, 1_200])
})
