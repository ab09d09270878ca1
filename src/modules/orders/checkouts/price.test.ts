import { expect, test } from 'vitest'
import { taxed } from '../../../../test/support/quotes.ts'
import type { QuotedVariant } from '../../catalog/index.ts'
import { computeQuote } from '../../pricing/quote/quote.ts'
import type { ShippingOption, ShippingParcel } from '../../shipping/index.ts'
import type { CheckoutInput } from './input.ts'
import type { CheckoutLine } from './lines.ts'
import { type CheckoutPricingContext, calculateCheckoutPrice } from './price.ts'

const variantOf = (id: string, fields: Partial<QuotedVariant> = {}): QuotedVariant => ({
  variantId: id,
  productId: `product of ${id}`,
  categoryIds: [],
  name: id,
  variantName: id,
  slug: id,
  sku: id,
  imageUrl: null,
  attributes: {},
  rule: { min: 1, max: null, step: 1 },
  weightGrams: 100,
  requiresShipping: true,
  taxCategory: null,
  isActive: true,
  price: { minor: 1_000, discountedMinor: 1_000 },
  ...fields
})
const optionOf = (id: string, method: 'shipping' | 'pickup', amountMinor: number): ShippingOption => ({
  id,
  methodId: id,
  method,
  amountMinor,
  provider: null,
  service: id,
  currency: 'EUR',
  estimatedDays: null,
  taxCategory: 'standard'
})
const OPTIONS = [
  optionOf('shop', 'pickup', 0),
  optionOf('post', 'shipping', 500),
  optionOf('bike', 'shipping', 900)
]
const GERMAN = { country: 'DE', region: 'BE', postal_code: '10115' }

const lineOf = (variantId: string, quantity = 1, metadata: CheckoutLine['metadata'] = {}): CheckoutLine => ({
  id: ['line of', variantId, ...Object.values(metadata)].join(' '),
  variantId,
  quantity,
  metadata
})

/** By default one mug that is sent from a shop in Sweden to Germany. */
function priced(said: Partial<CheckoutInput> = {}, circumstances: Partial<CheckoutPricingContext> = {}) {
  const input: CheckoutInput = {
    lines: [lineOf('mug')],
    market: null,
    email: null,
    shippingAddress: GERMAN,
    billingAddress: null,
    shippingOption: null,
    codes: [],
    note: null,
    ...said
  }
  const given: CheckoutPricingContext = {
    market: {
      code: 'se',
      currency: 'EUR',
      countries: ['SE'],
      pricesIncludeTax: false,
      taxRounding: 'group',
      cashRoundingMinor: 1,
      locale: 'sv',
      priceListId: null,
      exclusive: true
    },
    variants: input.lines.map(({ variantId }) => variantOf(variantId)),
    stock: undefined,
    lineQuantityMax: 10,
    ratesOf: () => OPTIONS,
    now: 0,
    regions: undefined,
    rules: {
      promotions: [],
      codes: new Map(),
      buyer: { used: new Map(), exemptions: [], isFirstOrder: true },
      taxZones: new Map([
        ['DE', [taxed('DE', { standard: 190_000 })]],
        ['SE', [taxed('SE', { standard: 250_000 })]]
      ])
    },
    ...circumstances
  }
  return calculateCheckoutPrice(input, given, computeQuote)
}

test('the shipping options of a checkout are those of the parcel that its price is for', () => {
  const parcels: ShippingParcel[] = []
  const lines = ['mug', 'cup', 'text'].map((variantId, index) => lineOf(variantId, index + 1))
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
    currency: 'EUR',
    weightGrams: 160,
    valueMinor: 2_700,
    items: 3,
    requiresShipping: true
  }
  // For shipping, for the shown options, and for pickup.
  expect(parcels).toEqual([parcel, parcel, parcel])
})

test('if no shipping option is chosen, goods are sent by the cheapest option and never picked up', () => {
  expect(priced().quote.totals.shippingMinor).toBe(500)
  expect(priced({ shippingOption: 'bike' }).quote.totals.shippingMinor).toBe(900)
  const fetched = priced({ shippingOption: 'shop', shippingAddress: null })
  expect([fetched.method, fetched.quote.totals.shippingMinor, fetched.findings]).toEqual(['pickup', 0, []])
  const only = priced({}, { ratesOf: () => OPTIONS.slice(0, 1) })
  expect([only.method, only.quote.groups[0]?.option, only.options.length]).toEqual(['shipping', null, 1])
  expect(only.findings).toMatchObject([{ code: 'SHIPPING_NOT_AVAILABLE' }])
})

test('goods are taxed at their destination, pickups at the shop, and digital lines at the billing address', () => {
  const ratesIn = (...given: Parameters<typeof priced>) =>
    priced(...given).quote.taxSummary.map(({ ratePpm }) => ratePpm)
  expect(ratesIn()).toEqual([190_000])
  expect(ratesIn({ shippingAddress: null })).toEqual([250_000])
  expect(ratesIn({ shippingOption: 'shop' })).toEqual([250_000])
  const digital = { variants: [variantOf('mug', { requiresShipping: false })] }
  expect(ratesIn({ shippingAddress: null, billingAddress: GERMAN }, digital)).toEqual([190_000])
  expect(ratesIn({ shippingAddress: null }, digital)).toEqual([250_000])
})

test('each checkout line is taxed by its own tax category, or by the standard category', () => {
  const { quote } = priced(
    { lines: [lineOf('mug'), lineOf('rye')] },
    {
      variants: [variantOf('mug'), variantOf('rye', { taxCategory: 'food' })],
      rules: {
        promotions: [],
        codes: new Map(),
        buyer: { used: new Map(), exemptions: [], isFirstOrder: true },
        taxZones: new Map([['DE', [taxed('DE', { standard: 190_000, food: 70_000 })]]])
      }
    }
  )
  // The delivery has the standard category, too.
  expect(quote.lines.map(({ taxMinor }) => taxMinor)).toEqual([190, 70])
  expect(quote.groups.map(({ taxMinor }) => taxMinor)).toEqual([95])
})

test('digital lines of a checkout need no address and no delivery', () => {
  const digital = { variants: [variantOf('mug', { requiresShipping: false })] }
  const { findings, options, quote } = priced({ shippingAddress: null }, digital)
  expect([findings, options, quote.groups.map(({ key }) => key)]).toEqual([[], [], ['digital']])
})

test('the price of a checkout is zero if no line is for sale', () => {
  const { quote, unsold, findings } = priced({}, { variants: [undefined] })
  expect([quote.totals.totalMinor, quote.groups, unsold]).toEqual([0, [], [{ ...lineOf('mug'), name: null }]])
  expect(findings).toMatchObject([{ code: 'VARIANT_UNAVAILABLE' }])
})

test('a checkout line has at most the maximum quantity, and a quantity that the variant is sold in', () => {
  const rulesOf = (quantity: number, rule: QuotedVariant['rule']) =>
    priced({ lines: [lineOf('mug', quantity)] }, { variants: [variantOf('mug', { rule })] }).findings.map(
      each => 'rule' in each && each.rule
    )
  const any = { min: 1, max: null, step: 1 }
  expect(rulesOf(10, any)).toEqual([])
  expect(rulesOf(11, any)).toEqual([{ min: 1, max: 10, step: 1 }])
  expect(rulesOf(9, { min: 2, max: 8, step: 2 })).toEqual([{ min: 2, max: 8, step: 2 }])
  expect(rulesOf(12, { min: 2, max: 20, step: 2 })).toEqual([{ min: 2, max: 10, step: 2 }])
})

test('a checkout line is short of stock if its quantity exceeds the available units', () => {
  const lines = [lineOf('mug', 3)]
  const codesWith = (available: number | null) =>
    priced({ lines }, { stock: [available] }).findings.map(({ code }) => code)
  expect([codesWith(null), codesWith(3), codesWith(2), codesWith(0)]).toEqual([
    [],
    [],
    ['STOCK_SHORT'],
    ['STOCK_SHORT']
  ])
})

test('checkout lines of one variant are checked as their sum, with one finding', () => {
  const lines = [lineOf('mug', 2, { engraving: 'Ada' }), lineOf('mug', 3, { engraving: 'Bob' })]
  const rule = { min: 5, max: 5, step: 1 }
  const found = (stock: number, max = 5) =>
    priced(
      { lines },
      { stock: [stock, stock], variants: lines.map(() => variantOf('mug', { rule: { ...rule, max } })) }
    ).findings
  expect(found(5)).toEqual([])
  expect(found(4)).toMatchObject([{ code: 'STOCK_SHORT', variantId: 'mug', available: 4 }])
  expect(found(5, 4)).toMatchObject([{ code: 'QUANTITY_RULE', rule: { min: 5, max: 4 } }])
  const { findings, unsold } = priced({ lines }, { variants: [undefined, undefined] })
  expect(findings).toMatchObject([{ code: 'VARIANT_UNAVAILABLE', variantId: 'mug' }])
  expect(unsold.map(({ metadata }) => metadata.engraving)).toEqual(['Ada', 'Bob'])
})

test('checkout lines of one variant cost as much as one line', () => {
  const split = [lineOf('mug', 1, { engraving: 'Ada' }), lineOf('mug', 2), lineOf('cup')]
  const of = (lines: readonly CheckoutLine[]) => priced({ lines }).quote
  const { lines, ...others } = of(split)
  const whole = of([lineOf('mug', 3), lineOf('cup')])
  expect([others.totals, others.hash, others.taxSummary]).toEqual([
    whole.totals,
    whole.hash,
    whole.taxSummary
  ])
  expect(lines.map(({ variantId, quantity }) => [variantId, quantity])).toEqual([
    ['cup', 1],
    ['mug', 2],
    ['mug', 1]
  ])
})
