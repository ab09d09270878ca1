import { createAreaMatcher, type DeliveryArea } from '../../src/kernel/areas.ts'
import type {
  DeliveryGroupRateInput,
  Promotion,
  QuoteBuyer,
  QuoteDeliveryGroup,
  QuoteInput,
  QuoteLine,
  QuoteMarket,
  QuoteShippingOption,
  QuoteTaxExemption,
  TaxZone
} from '../../src/modules/pricing/quote/input.ts'

export { computeQuote } from '../../src/modules/pricing/quote/quote.ts'
// For benchmarks, to which no module is open but by its door.
export { PROMOTIONS_PER_QUOTE_MAX, QUOTE_SIZE_LIMITS } from '../../src/modules/pricing/quote/size-limits.ts'

/** Inputs of quotes, of which a test says what matters to it. */
type Given = {
  market?: Partial<QuoteMarket>
  buyer?: Partial<QuoteBuyer>
  lines: readonly Partial<QuoteLine>[]
  groups?: readonly Partial<QuoteDeliveryGroup>[]
  promotions?: readonly Partial<Promotion>[]
  codes?: readonly string[]
  taxes?: readonly TaxZone[]
  ratesOf?: (parcel: DeliveryGroupRateInput) => QuoteShippingOption[]
  now?: number
}

export function quoteInput(given: Given): QuoteInput {
  const promotions = (given.promotions ?? []).map(promotionOf)
  const coded = promotions.filter(promotion => promotion.needsCode)
  return {
    market: marketOf(given.market),
    buyer: { group: null, exemptions: [], isFirstOrder: true, used: new Map(), ...given.buyer },
    lines: given.lines.map(lineOf),
    groups: (given.groups ?? [{}]).map(groupOf),
    codes: given.codes ?? [],
    rules: {
      promotions,
      // Each is asked for by its name.
      codes: new Map(coded.map(({ id, name }) => [name, { promotionId: id, usesLeft: null }])),
      taxZones: Map.groupBy(given.taxes ?? [], zone => zone.area.country),
      ratesOf: given.ratesOf ?? (() => [])
    },
    now: given.now ?? 0
  }
}

/** One that holds everywhere and always, unless told otherwise. */
export const exemption = (given: Partial<QuoteTaxExemption> = {}): QuoteTaxExemption => ({
  id: 'exemption',
  company: 'Acme',
  vatId: null,
  reason: 'reverse charge',
  countries: null,
  startsAt: null,
  endsAt: null,
  ...given
})

const marketOf = (given: Partial<QuoteMarket> = {}): QuoteMarket => ({
  code: 'home',
  currency: 'EUR',
  countries: ['DE'],
  pricesIncludeTax: true,
  taxRounding: 'group',
  cashRoundingMinor: 1,
  ...given
})

const lineOf = (given: Partial<QuoteLine>, index: number): QuoteLine => {
  const key = given.key ?? `line ${String(index).padStart(3, '0')}`
  const { priceMinor = 1_000 } = given
  return {
    key,
    variantId: `variant of ${key}`,
    productId: `product of ${key}`,
    categoryIds: [],
    quantity: 1,
    priceMinor,
    discountedPriceMinor: priceMinor,
    taxCategory: 'standard',
    requiresShipping: true,
    weightGrams: 100,
    group: 'all',
    ...given
  }
}

const groupOf = (given: Partial<QuoteDeliveryGroup>): QuoteDeliveryGroup => ({
  key: 'all',
  method: 'digital',
  destination: null,
  choice: null,
  ...given
})

const promotionOf = (given: Partial<Promotion>, index: number): Promotion => ({
  id: `promotion ${String(index).padStart(3, '0')}`,
  name: `P${index}`,
  class: 'line',
  priority: 0,
  startsAt: null,
  endsAt: null,
  markets: null,
  needsCode: false,
  minimumMinor: null,
  minimumQuantity: 0,
  productIds: null,
  categoryIds: null,
  shippingMethodIds: null,
  cheapestOnly: false,
  firstOrderOnly: false,
  group: null,
  effect: { type: 'percentage', ppm: 100_000 },
  combines: ['line', 'order', 'shipping'],
  usesLeft: null,
  usesPerCustomer: null,
  ...given
})

/** A country where these rates hold, by category. */
export const taxed = (country: string, rates: Record<string, number>): TaxZone =>
  zoneOf(
    { country, region: null, postalCode: null },
    Object.entries(rates).map(([category, ppm]) => ({ category, ppm, startsAt: null, endsAt: null }))
  )

export const zoneOf = (area: DeliveryArea, rates: TaxZone['rates']): TaxZone => ({
  id: Object.values(area).join(' '),
  reachFor: createAreaMatcher(area),
  area,
  rates
})
