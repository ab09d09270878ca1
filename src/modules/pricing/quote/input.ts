import type { createAreaMatcher, DeliveryArea, DeliveryDestination } from '../../../kernel/areas.ts'

/** The tax category of variants and shipping methods that name none. */
export const STANDARD_TAX_CATEGORY = 'standard'
/** The category that is never taxed: it has no rates. */
export const UNTAXED_TAX_CATEGORY = 'untaxed'

/**
 * Input of a quote. Amounts are minor units of the market's currency, rates parts per million, times
 * milliseconds since 1970. Periods include their start and exclude their end. The caller guarantees
 * amounts of at least zero, quantities of at least one, and rates of at most a million.
 */
export type QuoteInput<Option extends QuoteShippingOption = QuoteShippingOption> = {
  readonly market: QuoteMarket
  readonly lines: readonly QuoteLine[]
  readonly groups: readonly QuoteDeliveryGroup[]
  /** Promotion codes as the shopper entered them. */
  readonly codes: readonly string[]
  readonly buyer: QuoteBuyer
  readonly rules: QuoteRules<Option>
  readonly now: number
  /** Taxes by a tax engine, one for each of `listTaxableComponents`, in their order. Absent: the rates of the rules apply. */
  readonly taxes?: readonly ComponentTax[]
}

/**
 * The tax of a component by an external engine.
 * @example
 * const tax: ComponentTax = { ratePpm: 190_000, taxMinor: 190 }
 */
export type ComponentTax = {
  /** The rate in parts per million: 190000 is 19 %. */
  readonly ratePpm: number
  /** In minor units. It is at most the amount, and the rate times the amount but for rounding. */
  readonly taxMinor: number
}

export type QuoteMarket = {
  readonly code: string
  readonly currency: string
  /** Countries of the market. The first one is the assumed destination of a buyer without an address. */
  readonly countries: readonly string[]
  readonly pricesIncludeTax: boolean
  readonly taxRounding: TaxRounding
  /** Cash rounding: the total is rounded to a multiple of this amount; 1: no rounding. */
  readonly cashRoundingMinor: number
}

/**
 * Unit of tax rounding: all items of one category and rate, each variant (of all its lines) and delivery, or each
 * unit.
 */
export type TaxRounding = 'group' | 'line' | 'unit'

export type QuoteLine = {
  /**
   * Key of the line, unique in the quote. When an amount does not divide evenly, variants with smaller ids get
   * more, and among the lines of a variant those with smaller keys.
   */
  readonly key: string
  readonly variantId: string
  readonly productId: string
  /** The product's categories and their ancestors. */
  readonly categoryIds: readonly string[]
  readonly quantity: number
  /** Unit price by price list and quantity. */
  readonly priceMinor: number
  /** Unit price after catalog discounts. */
  readonly discountedPriceMinor: number
  /** Null: `standard`. */
  readonly taxCategory: string | null
  readonly requiresShipping: boolean
  /** Weight of one unit. */
  readonly weightGrams: number
  /** Key of the delivery group of the line. */
  readonly group: string
}

/** Lines that are delivered together. */
export type QuoteDeliveryGroup = {
  readonly key: string
  readonly method: 'shipping' | 'pickup' | 'digital'
  readonly destination: GroupDestination | null
  /** Id of the chosen shipping option; null: the cheapest. */
  readonly choice: string | null
}

/** The destination of a delivery group. Unknown fields are null or omitted. */
type GroupDestination = {
  readonly country: string
  readonly region?: string | null | undefined
  readonly postalCode?: string | null | undefined
}

export type QuoteBuyer = {
  /** Customer group, such as wholesalers. */
  readonly group: string | null
  /** The buyer's tax exemptions. The first one that applies to a destination is used. */
  readonly exemptions: readonly QuoteTaxExemption[]
  /** Whether this is the buyer's first order. True unless an earlier order is known. */
  readonly isFirstOrder: boolean
  /** Uses by promotion id. */
  readonly used: ReadonlyMap<string, number>
}

/** A tax exemption, with its countries and period. */
export type QuoteTaxExemption = {
  readonly id: string
  readonly company: string
  readonly vatId: string | null
  readonly reason: string
  /** Destination countries; null: all. */
  readonly countries: readonly string[] | null
  readonly startsAt: number | null
  readonly endsAt: number | null
}

export type QuoteRules<Option extends QuoteShippingOption = QuoteShippingOption> = {
  readonly promotions: readonly Promotion[]
  /** By normalized code. */
  readonly codes: ReadonlyMap<string, { readonly promotionId: string; readonly usesLeft: number | null }>
  /** Tax zones by country; zones of all countries have the key `ANY_COUNTRY`. */
  readonly taxZones: ReadonlyMap<string, readonly TaxZone[]>
  readonly ratesOf: (parcel: DeliveryGroupRateInput) => readonly Option[]
}

/**
 * A tax zone: an area with one rate per category at a time. The most specific zone around a place applies.
 */
export type TaxZone = {
  readonly id: string
  readonly area: DeliveryArea
  /**
   * Matches a place with the area of the zone. Precomputed, because a quote checks all zones of a country.
   */
  readonly reachFor: ReturnType<typeof createAreaMatcher>
  readonly rates: readonly TaxRate[]
}
type TaxRate = {
  readonly category: string
  readonly ppm: number
  readonly startsAt: number | null
  readonly endsAt: number | null
}

/** The part of a group that is shipped or picked up. */
export type DeliveryGroupRateInput = {
  readonly method: 'shipping' | 'pickup'
  /** Null: pickup without a known place. */
  readonly destination: DeliveryDestination | null
  readonly currency: string
  readonly weightGrams: number
  /** After all discounts. */
  readonly valueMinor: number
  readonly items: number
}
export type QuoteShippingOption = {
  readonly id: string
  /** The shipping method of the option. Null: unknown, so promotions that name methods do not match it. */
  readonly methodId: string | null
  readonly amountMinor: number
  /** Null: `standard`. */
  readonly taxCategory: string | null
}

/** Amounts by currency. Without an amount in the market's currency it does not apply there. */
export type AmountsByCurrency = Readonly<Record<string, number>>

/** What a promotion applies to: each line, the matching lines together, or each delivery. */
export type PromotionClass = 'line' | 'order' | 'shipping'

export type Promotion = {
  readonly id: string
  readonly name: string
  readonly class: PromotionClass
  /** Higher priority applies first within its class. */
  readonly priority: number
  readonly startsAt: number | null
  readonly endsAt: number | null
  /** Market codes; null: all. */
  readonly markets: readonly string[] | null
  readonly needsCode: boolean
  /** Minimum cost of the matching lines, after catalog discounts and before promotions. */
  readonly minimumMinor: AmountsByCurrency | null
  readonly minimumQuantity: number
  /** Products and categories of matching lines; both null: every line matches. */
  readonly productIds: ReadonlySet<string> | null
  readonly categoryIds: ReadonlySet<string> | null
  /** Shipping methods to which the promotion applies; null: all. */
  readonly shippingMethodIds: ReadonlySet<string> | null
  /** Whether the promotion applies only to the cheapest option of a delivery. */
  readonly cheapestOnly: boolean
  readonly firstOrderOnly: boolean
  /** The customer group to which the promotion is limited; null: all customers. */
  readonly group: string | null
  readonly effect: PromotionEffect
  /** Classes of promotions with which this promotion combines, possibly including its own class. */
  readonly combines: readonly PromotionClass[]
  readonly usesLeft: number | null
  readonly usesPerCustomer: number | null
}

/**
 * `amount` is subtracted per unit of a line, once per order, or per delivery. `fixed_price` replaces the
 * price of these.
 */
export type PromotionEffect =
  | { readonly type: 'percentage'; readonly ppm: number }
  | { readonly type: 'amount'; readonly minor: AmountsByCurrency }
  | { readonly type: 'fixed_price'; readonly minor: AmountsByCurrency }
  | { readonly type: 'free_shipping' }
