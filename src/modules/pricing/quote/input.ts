import type { Area, Destination, reaching } from '../../../kernel/areas.ts'

/**
 * What a quote is made of. Amounts are minor units of the market's currency, rates parts per million, times milliseconds
 * since 1970; periods begin with their start and end before their end. The caller vouches for the figures: amounts are not
 * below zero, quantities at least one, rates at most a million.
 */
export type QuoteInput<Option extends ShippingOption = ShippingOption> = {
  readonly market: Market
  readonly lines: readonly QuoteLine[]
  readonly groups: readonly QuoteGroup[]
  /** As the shopper typed them. */
  readonly codes: readonly string[]
  readonly buyer: Buyer
  readonly rules: QuoteRules<Option>
  readonly now: number
}

export type Market = {
  readonly code: string
  readonly currency: string
  /** The first one is where a buyer is who has not said so; without any, nowhere. */
  readonly countries: readonly string[]
  readonly pricesIncludeTax: boolean
  readonly taxRounding: TaxRounding
  /** The total is a multiple of it; 1: any amount can be paid. */
  readonly cashRoundingMinor: number
}

/** What tax is rounded for: all that has one category and rate, each line and delivery, or each unit. */
export type TaxRounding = 'group' | 'line' | 'unit'

export type QuoteLine = {
  /** Unlike all others of the quote. Where something cannot be divided evenly, the smaller key gets more. */
  readonly key: string
  readonly variantId: string
  readonly productId: string
  /** The product's categories with all that lie above them. */
  readonly categoryIds: readonly string[]
  readonly quantity: number
  /** What one costs, by price list and quantity. */
  readonly priceMinor: number
  /** What one costs after discounts of the catalog. */
  readonly discountedPriceMinor: number
  /** Null: `standard`. */
  readonly taxCategory: string | null
  readonly requiresShipping: boolean
  /** Of one. */
  readonly weightGrams: number
  /** The key of the group that it is delivered with. */
  readonly group: string
}

/** Lines that are delivered together. */
export type QuoteGroup = {
  readonly key: string
  readonly method: 'shipping' | 'pickup' | 'digital'
  readonly destination: GroupDestination | null
  /** The id of the option that the buyer chose; null: the cheapest. */
  readonly choice: string | null
}

/** What is not known of it is null, or left out. */
type GroupDestination = {
  readonly country: string
  readonly region?: string | null | undefined
  readonly postalCode?: string | null | undefined
}

export type Buyer = {
  /** Of customers, such as wholesalers. */
  readonly group: string | null
  /** Of those that hold somewhere the first one counts there. */
  readonly exemptions: readonly Exemption[]
  /** True until it is known that they have ordered before. */
  readonly isFirstOrder: boolean
  /** How often they used a promotion, by its id. */
  readonly used: ReadonlyMap<string, number>
}

/** Why a buyer pays no tax, where and when. */
export type Exemption = {
  readonly id: string
  readonly company: string
  readonly vatId: string | null
  readonly reason: string
  /** Where what is taxed goes; null: anywhere. */
  readonly countries: readonly string[] | null
  readonly startsAt: number | null
  readonly endsAt: number | null
}

export type QuoteRules<Option extends ShippingOption = ShippingOption> = {
  readonly promotions: readonly Promotion[]
  /** By the code as `normalizeCode` writes it. */
  readonly codes: ReadonlyMap<string, { readonly promotionId: string; readonly usesLeft: number | null }>
  /** By country; those that hold in any have `ANYWHERE`. */
  readonly taxZones: ReadonlyMap<string, readonly TaxZone[]>
  readonly ratesOf: (parcel: Parcel) => readonly Option[]
}

/** Where rates hold: of a category one at a time. The zone that reaches least far around a place says which. */
export type TaxZone = {
  readonly id: string
  readonly area: Area
  /** Made once, of the area: a quote asks all zones of a country. */
  readonly reachFor: ReturnType<typeof reaching>
  readonly rates: readonly TaxRate[]
}
type TaxRate = {
  readonly category: string
  readonly ppm: number
  readonly startsAt: number | null
  readonly endsAt: number | null
}

/** What of a group has to be carried. */
export type Parcel = {
  readonly method: 'shipping' | 'pickup'
  /** Null: it is picked up, and not said where. */
  readonly destination: Destination | null
  readonly currency: string
  readonly weightGrams: number
  /** After all discounts. */
  readonly valueMinor: number
  readonly items: number
}
export type ShippingOption = {
  readonly id: string
  /** Null where it is unknown: then it is an option of no named method. */
  readonly methodId: string | null
  readonly amountMinor: number
  /** Null: `standard`. */
  readonly taxCategory: string | null
}

/** Amounts by currency. What has none for a market's currency does not hold in it. */
export type Amounts = Readonly<Record<string, number>>

/** What is reckoned with: each line, the matching lines together, each delivery. */
export type PromotionClass = 'line' | 'order' | 'shipping'

export type Promotion = {
  readonly id: string
  readonly name: string
  readonly class: PromotionClass
  /** The higher one comes first in its class. */
  readonly priority: number
  readonly startsAt: number | null
  readonly endsAt: number | null
  /** Codes of markets; null: all. */
  readonly markets: readonly string[] | null
  readonly needsCode: boolean
  /** What matching lines cost at least, after discounts of the catalog and before promotions. */
  readonly minimumMinor: Amounts | null
  readonly minimumQuantity: number
  /** A line matches by its product or by a category; both null: every line. */
  readonly productIds: ReadonlySet<string> | null
  readonly categoryIds: ReadonlySet<string> | null
  /** The shipping methods that it is for; null: all. */
  readonly shippingMethodIds: ReadonlySet<string> | null
  /** Whether it is only for the cheapest option that is offered for a delivery. */
  readonly cheapestOnly: boolean
  readonly firstOrderOnly: boolean
  /** Of customers; null: everybody. */
  readonly group: string | null
  readonly effect: Effect
  /** The classes, its own too, whose promotions may be there beside it. */
  readonly combines: readonly PromotionClass[]
  readonly usesLeft: number | null
  readonly usesPerCustomer: number | null
}

/** An amount is off each unit of a line, off the order once, off each delivery; and a fixed price is the price of that. */
export type Effect =
  | { readonly type: 'percentage'; readonly ppm: number }
  | { readonly type: 'amount'; readonly minor: Amounts }
  | { readonly type: 'fixed_price'; readonly minor: Amounts }
  | { readonly type: 'free_shipping' }
