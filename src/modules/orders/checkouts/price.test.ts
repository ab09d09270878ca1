import { expect, test } from 'vitest'
import { taxed } from '../../../../test/support/quotes.ts'
import type { QuotedVariant } from '../../catalog/index.ts'
import { quote } from '../../pricing/quote/quote.ts'
import type { Parcel, ShippingOption } from '../../shipping/index.ts'
import type { CheckoutInput } from './input.ts'
import { type Circumstances, price } from './price.ts'

const variantOf = (id: string, fields: Partial<QuotedVariant> = {}): QuotedVariant => ({
  ...{ variantId: id, productId: `product of ${id}`, categoryIds: [], name: id, variantName: id, slug: id },
  ...{ sku: id, imageUrl: null, attributes: {}, rule: { min: 1, max: null, step: 1 }, weightGrams: 100 },
  ...{ requiresShipping: true, taxCategory: null, isActive: true },
  price: { minor: 1_000, discountedMinor: 1_000 },
  ...fields
})
const optionOf = (id: string, method: 'shipping' | 'pickup', amountMinor: number): ShippingOption => ({
  ...{
    id,
    methodId: id,
    method,
    amountMinor,
    provider: null,
    service: id,
    currency: 'EUR',
    estimatedDays: null
  },
  taxCategory: 'standard'
})
const OPTIONS = [
  optionOf('shop', 'pickup', 0),
  optionOf('post', 'shipping', 500),
  optionOf('bike', 'shipping', 900)
]
const GERMAN = { country: 'DE', region: 'BE', postal_code: '10115' }

/** One of a mug, sent to Germany from a shop in Sweden, unless told otherwise. */
function priced(said: Partial<CheckoutInput> = {}, circumstances: Partial<Circumstances> = {}) {
  const input: CheckoutInput = {
    ...{ lines: [{ variantId: 'mug', quantity: 1 }], market: null, email: null },
    ...{ shippingAddress: GERMAN, billingAddress: null, shippingOption: null, codes: [], note: null },
    ...said
  }
  const given: Circumstances = {
    market: {
      ...{ code: 'se', currency: 'EUR', countries: ['SE'], pricesIncludeTax: false, taxRounding: 'group' },
      ...{ cashRoundingMinor: 1, locale: 'sv', priceListId: null, exclusive: true }
    },
    variants: input.lines.map(({ variantId }) => variantOf(variantId)),
    ...{ stock: undefined, lineQuantityMax: 10, ratesOf: () => OPTIONS, now: 0 },
    regions: undefined,
    rules: {
      ...{ promotions: [], codes: new Map() },
      buyer: { used: new Map(), exemptions: [], isFirstOrder: true },
      taxZones: new Map([
        ['DE', [taxed('DE', { standard: 190_000 })]],
        ['SE', [taxed('SE', { standard: 250_000 })]]
      ])
    },
    ...circumstances
  }
  return price(input, given, quote)
}

test('the parcel of which all ways are shown is the one that the quote asks for', () => {
  const parcels: Parcel[] = []
  const lines = ['mug', 'cup', 'text'].map((variantId, index) => ({ variantId, quantity: index + 1 }))
  priced(
    { lines, shippingOption: 'shop' },
    {
      variants: [
        variantOf('mug', { price: { minor: 900, discountedMinor: 700 } }),
        variantOf('cup', { weightGrams: 30 }),
        variantOf('text', { requiresShipping: false })
      ],
      ratesOf: parcel => {
        parcels.push(parcel)
        return OPTIONS
      }
    }
  )
  const parcel = {
    destination: { country: 'DE', region: 'BE', postalCode: '10115' },
    ...{ currency: 'EUR', weightGrams: 160, valueMinor: 2_700, items: 3, requiresShipping: true }
  }
  // For what is sent, for all that is shown, and for what is picked up.
  expect(parcels).toEqual([parcel, parcel, parcel])
})

test('without a choice it is sent the cheapest way, and nobody has to fetch it who did not say so', () => {
  expect(priced().quote.totals.shippingMinor).toBe(500)
  expect(priced({ shippingOption: 'bike' }).quote.totals.shippingMinor).toBe(900)
  const fetched = priced({ shippingOption: 'shop', shippingAddress: null })
  expect([fetched.method, fetched.quote.totals.shippingMinor, fetched.findings]).toEqual(['pickup', 0, []])
  const only = priced({}, { ratesOf: () => OPTIONS.slice(0, 1) })
  expect([only.method, only.quote.groups[0]?.option, only.options.length]).toEqual(['shipping', null, 1])
  expect(only.findings).toMatchObject([{ code: 'SHIPPING_NOT_AVAILABLE' }])
})

test('goods are taxed where they go, what is picked up where the shop is, and the rest where the bill goes', () => {
  const ratesIn = (...given: Parameters<typeof priced>) =>
    priced(...given).quote.taxSummary.map(({ ratePpm }) => ratePpm)
  expect(ratesIn()).toEqual([190_000])
  expect(ratesIn({ shippingAddress: null })).toEqual([250_000])
  expect(ratesIn({ shippingOption: 'shop' })).toEqual([250_000])
  const digital = { variants: [variantOf('mug', { requiresShipping: false })] }
  expect(ratesIn({ shippingAddress: null, billingAddress: GERMAN }, digital)).toEqual([190_000])
  expect(ratesIn({ shippingAddress: null }, digital)).toEqual([250_000])
})

test('each is taxed as its category is, and what has none of its own as standard', () => {
  const { quote } = priced(
    { lines: ['mug', 'rye'].map(variantId => ({ variantId, quantity: 1 })) },
    {
      variants: [variantOf('mug'), variantOf('rye', { taxCategory: 'food' })],
      rules: {
        ...{ promotions: [], codes: new Map() },
        buyer: { used: new Map(), exemptions: [], isFirstOrder: true },
        taxZones: new Map([['DE', [taxed('DE', { standard: 190_000, food: 70_000 })]]])
      }
    }
  )
  // The delivery is standard, too.
  expect(quote.lines.map(({ taxMinor }) => taxMinor)).toEqual([190, 70])
  expect(quote.groups.map(({ taxMinor }) => taxMinor)).toEqual([95])
})

test('what is not carried asks for no address and no delivery', () => {
  const digital = { variants: [variantOf('mug', { requiresShipping: false })] }
  const { findings, options, quote } = priced({ shippingAddress: null }, digital)
  expect([findings, options, quote.groups.map(({ key }) => key)]).toEqual([[], [], ['digital']])
})

test('with nothing that can be bought there is a price of nothing', () => {
  const { quote, unsold, findings } = priced({}, { variants: [undefined] })
  expect([quote.totals.totalMinor, quote.groups, unsold]).toEqual([
    0,
    [],
    [{ variantId: 'mug', quantity: 1, name: null }]
  ])
  expect(findings).toMatchObject([{ code: 'VARIANT_UNAVAILABLE' }])
})

test('of one variant nobody buys more than a line may have, nor other quantities than it is sold in', () => {
  const rulesOf = (quantity: number, rule: QuotedVariant['rule']) =>
    priced(
      { lines: [{ variantId: 'mug', quantity }] },
      { variants: [variantOf('mug', { rule })] }
    ).findings.map(each => 'rule' in each && each.rule)
  const any = { min: 1, max: null, step: 1 }
  expect(rulesOf(10, any)).toEqual([])
  expect(rulesOf(11, any)).toEqual([{ min: 1, max: 10, step: 1 }])
  expect(rulesOf(9, { min: 2, max: 8, step: 2 })).toEqual([{ min: 2, max: 8, step: 2 }])
  expect(rulesOf(12, { min: 2, max: 20, step: 2 })).toEqual([{ min: 2, max: 10, step: 2 }])
})

test('there is enough as long as no more is wanted than there is', () => {
  const lines = [{ variantId: 'mug', quantity: 3 }]
  const codesWith = (available: number | null) =>
    priced({ lines }, { stock: [available] }).findings.map(({ code }) => code)
  expect([codesWith(null), codesWith(3), codesWith(2), codesWith(0)]).toEqual([
    [],
    [],
    ['STOCK_SHORT'],
    ['STOCK_SHORT']
  ])
})
