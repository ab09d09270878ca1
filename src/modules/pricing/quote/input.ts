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
  /** As entered by the shopper. */
  readonly codes: readonly string[]
  readonly buyer: QuoteBuyer
  readonly rules: QuoteRules<Option>
  readonly now: number
}

export type QuoteMarket = {
  readonly code: string
  readonly currency: string
  /** The first one is assumed for a buyer without a destination; without countries, none is. */
  readonly countries: readonly string[]
  readonly pricesIncludeTax: boolean
  readonly taxRounding: TaxRounding
  /** The total is rounded to a multiple of it; 1: no rounding. */
  readonly cashRoundingMinor: number
}

/** Unit of tax rounding: all items of one category and rate, each line and delivery, or each unit. */
export type TaxRounding = 'group' | 'line' | 'unit'

export type QuoteLine = {
  /** Unique in the quote. When an amount does not divide evenly, smaller keys get more. */
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
  /** Key of its delivery group. */
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

/** Unknown fields are null or omitted. */
type GroupDestination = {
  readonly country: string
  readonly region?: string | null | undefined
  readonly postalCode?: string | null | undefined
}

export type QuoteBuyer = {
  /** Customer group, such as wholesalers. */
  readonly group: string | null
  /** The first exemption that applies to a destination is used. */
  readonly exemptions: readonly QuoteTaxExemption[]
  /** True until an earlier order is known. */
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
  /** By country; zones of all countries have `ANY_COUNTRY`. */
  readonly taxZones: ReadonlyMap<string, readonly TaxZone[]>
  readonly ratesOf: (parcel: DeliveryGroupParcel) => readonly Option[]
}

/** The area of tax rates; one rate per category at a time. The most specific zone around a place applies. */
export type TaxZone = {
  readonly id: string
  readonly area: DeliveryArea
  /** Precomputed from the area, because a quote checks all zones of a country. */
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
export type DeliveryGroupParcel = {
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
  /** Null: unknown, so it belongs to no named method. */
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
  /** A line matches by product or by category; both null: every line. */
  readonly productIds: ReadonlySet<string> | null
  readonly categoryIds: ReadonlySet<string> | null
  /** Shipping methods it applies to; null: all. */
  readonly shippingMethodIds: ReadonlySet<string> | null
  /** Whether it applies only to the cheapest option of a delivery. */
  readonly cheapestOnly: boolean
  readonly firstOrderOnly: boolean
  /** Customer group; null: all customers. */
  readonly group: string | null
  readonly effect: PromotionEffect
  /** Classes of promotions, including its own, that it combines with. */
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
