import fc from 'fast-check'
import type {
  AmountsByCurrency,
  DeliveryGroupRateInput,
  Promotion,
  PromotionClass,
  PromotionEffect,
  QuoteDeliveryGroup,
  QuoteInput,
  QuoteLine,
  QuoteMarket,
  QuoteShippingOption,
  QuoteTaxExemption,
  TaxZone
} from '../../src/modules/pricing/quote/input.ts'
import { exemption, quoteInput, zoneOf } from '../support/quotes.ts'

const NOW = 1_000
const PRODUCTS = ['shirt', 'coat', 'book', 'mug']
const CATEGORIES = ['clothes', 'home', 'sale']
const TAX_CATEGORIES = ['standard', 'reduced', 'zero', 'unknown']
const GROUPS = ['g1', 'g2', 'g3']
const CODES = ['ONE', 'TWO', 'THREE', 'FOUR', 'NONE']
const CLASSES: readonly PromotionClass[] = ['line', 'order', 'shipping']

const rarely = <T>(usual: T, other: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other })
const anyMinor = fc.oneof(
  { weight: 2, arbitrary: fc.nat({ max: 10 }) },
  { weight: 6, arbitrary: fc.nat({ max: 20_000 }) },
  { weight: 1, arbitrary: fc.nat({ max: 50_000_000_000 }) }
)
const anyPpm = fc.oneof(fc.constantFrom(0, 70_000, 72_500, 190_000, 1_000_000), fc.nat({ max: 300_000 }))

const anyMarket = fc.record({
  currency: fc.constantFrom('JPY', 'EUR', 'KWD'),
  pricesIncludeTax: fc.boolean(),
  taxRounding: fc.constantFrom<QuoteMarket['taxRounding']>('group', 'group', 'line', 'unit'),
  cashRoundingMinor: rarely(1, fc.constantFrom(5, 10, 100)),
  countries: rarely(['DE'], fc.constantFrom<string[]>(['US'], []))
})

const anyLine = fc.record({
  productId: fc.constantFrom(...PRODUCTS),
  categoryIds: fc.subarray(CATEGORIES),
  quantity: fc.integer({ min: 1, max: 12 }),
  priceMinor: anyMinor,
  sale: rarely(1_000_000, fc.nat({ max: 1_000_000 })),
  taxCategory: fc.constantFrom(...TAX_CATEGORIES, 'untaxed', null),
  requiresShipping: rarely(true, fc.constant(false)),
  weightGrams: fc.nat({ max: 3_000 }),
  group: fc.constantFrom(...GROUPS)
})

const anyDestination = fc.constantFrom<QuoteDeliveryGroup['destination']>(
  { country: 'DE' },
  { country: 'DE' },
  { country: 'US', region: 'CA', postalCode: '90210' },
  { country: 'US', region: 'NY', postalCode: '10001' },
  { country: 'FR' },
  null
)
const anyGroup = fc.record({
  method: fc.constantFrom<QuoteDeliveryGroup['method']>(
    'shipping',
    'shipping',
    'shipping',
    'pickup',
    'digital'
  ),
  destination: anyDestination,
  choice: rarely<string | null>(null, fc.constantFrom('post', 'express', 'gone'))
})

const anyAmounts = (currencies: fc.Arbitrary<string[]>, max = 8_000) =>
  fc
    .tuple(currencies, fc.nat({ max }))
    .map(([codes, minor]): AmountsByCurrency => Object.fromEntries(codes.map(code => [code, minor])))
const someCurrencies = rarely(['JPY', 'EUR', 'KWD'], fc.constant(['USD']))
const anyEffect = (of: PromotionClass): fc.Arbitrary<PromotionEffect> => {
  // Deliveries cost less than lines: what is dearer than all of them takes nothing off.
  const minor = anyAmounts(someCurrencies, of === 'shipping' ? 900 : 8_000)
  const percentage = fc
    .constantFrom(0, 33_333, 100_000, 125_000, 500_000, 1_000_000)
    .map((ppm): PromotionEffect => ({ type: 'percentage', ppm }))
  const amount = minor.map((each): PromotionEffect => ({ type: 'amount', minor: each }))
  const fixed = minor.map((each): PromotionEffect => ({ type: 'fixed_price', minor: each }))
  const free = fc.constant<PromotionEffect>({ type: 'free_shipping' })
  return fc.oneof(
    ...{
      line: [percentage, amount, fixed],
      order: [percentage, amount],
      shipping: [percentage, amount, fixed, free]
    }[of]
  )
}
const anyTime = fc.constantFrom(NOW - 1, NOW, NOW + 1)
const anyPromotion = fc.constantFrom(...CLASSES).chain(of =>
  fc.record({
    class: fc.constant(of),
    effect: anyEffect(of),
    priority: fc.nat({ max: 1 }),
    needsCode: fc.boolean(),
    combines: fc.oneof({ weight: 2, arbitrary: fc.constant([...CLASSES]) }, fc.subarray([...CLASSES])),
    startsAt: rarely<number | null>(null, anyTime),
    endsAt: rarely<number | null>(null, anyTime),
    markets: rarely<string[] | null>(null, fc.constantFrom(['home'], ['abroad'])),
    minimumMinor: rarely<AmountsByCurrency | null>(null, anyAmounts(someCurrencies)),
    minimumQuantity: rarely(0, fc.nat({ max: 20 })),
    productIds: rarely<Promotion['productIds']>(
      null,
      fc.subarray(PRODUCTS).map(ids => new Set(ids))
    ),
    categoryIds: rarely<Promotion['categoryIds']>(
      null,
      fc.subarray(CATEGORIES).map(ids => new Set(ids))
    ),
    cheapestOnly: of === 'shipping' ? rarely(false, fc.constant(true)) : fc.constant(false),
    shippingMethodIds: rarely<Promotion['shippingMethodIds']>(
      null,
      of === 'shipping' ? fc.subarray(['post', 'express']).map(ids => new Set(ids)) : fc.constant(null)
    ),
    firstOrderOnly: rarely(false, fc.constant(true)),
    group: rarely<string | null>(null, fc.constantFrom('wholesale', 'staff')),
    usesLeft: rarely<number | null>(null, fc.nat({ max: 1 })),
    usesPerCustomer: rarely<number | null>(null, fc.nat({ max: 2 }))
  })
)

const anyRates = fc
  .tuple(
    fc.subarray(TAX_CATEGORIES.slice(0, 3), { minLength: 2 }),
    anyPpm,
    rarely<number | null>(null, anyTime),
    rarely<number | null>(null, anyTime)
  )
  .map(([categories, ppm, startsAt, endsAt]): TaxZone['rates'] =>
    categories.map((category, index) => ({ category, ppm: Math.floor(ppm / (index + 1)), startsAt, endsAt }))
  )
const AREAS = [
  { country: 'DE', region: null, postalCode: null },
  { country: 'US', region: null, postalCode: null },
  { country: 'US', region: 'CA', postalCode: null },
  { country: 'US', region: null, postalCode: '902*' }
]
const anyTaxes = fc.array(anyRates, { minLength: AREAS.length, maxLength: AREAS.length }).chain(rates =>
  fc.subarray(
    AREAS.map((area, index) => zoneOf(area, rates[index] ?? [])),
    { minLength: 2 }
  )
)

/** Options that look at all that a parcel says; none to France. */
const anyShipping = fc
  .record({
    post: fc.nat({ max: 1_500 }),
    express: fc.nat({ max: 2_000 }),
    freeFrom: fc.nat({ max: 60_000 })
  })
  .map(({ post, express, freeFrom }) => (parcel: DeliveryGroupRateInput): QuoteShippingOption[] => {
    if (parcel.destination?.country === 'FR') return []
    const byWeight = Math.floor(parcel.weightGrams / 1_000) + parcel.items
    return [
      {
        id: 'post',
        methodId: 'post',
        amountMinor: parcel.valueMinor >= freeFrom ? 0 : post + byWeight,
        taxCategory: 'standard'
      },
      {
        id: 'express',
        methodId: 'express',
        amountMinor: express,
        taxCategory: parcel.method === 'pickup' ? 'untaxed' : null
      }
    ]
  })

const anyEdge = rarely<number | null>(null, fc.constantFrom(NOW - 1, NOW, NOW + 1))
const anyExemption = fc
  .record({
    id: fc.constantFrom('one', 'other'),
    countries: fc.constantFrom<string[] | null>(null, ['DE'], ['US', 'CH']),
    startsAt: anyEdge,
    endsAt: anyEdge
  })
  .map(exemption)

/** Any basket there can be, in any market, with any promotions, codes and taxes. */
export const anyBasket: fc.Arbitrary<QuoteInput> = fc
  .record({
    market: anyMarket,
    lines: fc.array(anyLine, { minLength: 1, maxLength: 6 }),
    groups: fc.tuple(anyGroup, anyGroup, anyGroup),
    promotions: fc.oneof(...[0, 4].map(minLength => fc.array(anyPromotion, { minLength, maxLength: 6 }))),
    codes: fc.subarray(CODES),
    targets: fc.array(fc.tuple(fc.nat({ max: 5 }), rarely<number | null>(null, fc.nat({ max: 1 }))), {
      minLength: 4,
      maxLength: 4
    }),
    taxes: anyTaxes,
    ratesOf: anyShipping,
    exemptions: rarely<QuoteTaxExemption[]>([], fc.array(anyExemption, { minLength: 1, maxLength: 2 })),
    isFirstOrder: fc.boolean(),
    group: fc.constantFrom(null, 'wholesale'),
    used: fc.nat({ max: 2 })
  })
  .map(({ lines, groups, targets, exemptions, isFirstOrder, group, used, ...given }) => {
    const input = quoteInput({
      ...given,
      buyer: { exemptions, isFirstOrder, group, used: new Map([['promotion 000', used]]) },
      lines: lines.map(({ sale, ...line }): Partial<QuoteLine> => {
        return { ...line, discountedPriceMinor: Math.floor((line.priceMinor * sale) / 1_000_000) }
      }),
      groups: groups.map((each, index) => ({ key: GROUPS[index] ?? '', ...each })),
      now: NOW
    })
    const codes = targets.map(([at, usesLeft], index) => {
      return [CODES[index] ?? '', { promotionId: `promotion 00${at}`, usesLeft }] as const
    })
    return { ...input, rules: { ...input.rules, codes: new Map(codes) } }
  })

/** The same in another order and writing. */
export function shuffled(input: QuoteInput, order: readonly number[]): QuoteInput {
  const mixed = <T>(list: readonly T[]): T[] =>
    list
      .map((each, index) => ({ each, at: order[index % order.length] ?? 0 }))
      .sort((a, b) => a.at - b.at)
      .map(({ each }) => each)
  const { rules } = input
  return {
    ...input,
    lines: mixed(input.lines.map(line => ({ ...line, categoryIds: mixed(line.categoryIds) }))),
    groups: mixed(input.groups),
    codes: mixed([...input.codes, ...input.codes.map(code => ` ${code.toLowerCase()} `)]),
    rules: {
      ...rules,
      promotions: mixed(rules.promotions),
      taxZones: new Map([...rules.taxZones].map(([country, zones]) => [country, mixed(zones)])),
      ratesOf: parcel => mixed(rules.ratesOf(parcel))
    }
  }
}
