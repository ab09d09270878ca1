import type {
  AppliedTaxEngine,
  Market,
  PricingApi,
  Quote,
  QuoteInput,
  QuoteLine
} from '../../pricing/index.ts'
import type { ShippingOption, ShippingParcel } from '../../shipping/index.ts'
import { regionsForTaxAndDelivery } from '../countries/service.ts'
import { destinationOfAddress } from './addresses.ts'
import {
  type CalculateShippingOptions,
  type DeliveryMethod,
  DIGITAL_DELIVERY_GROUP_KEY,
  GOODS_DELIVERY_GROUP_KEY,
  shippingParcelOf
} from './delivery.ts'
import { type CheckoutDiscount, discountsByPromotion } from './discounts.ts'
import { type CheckoutFinding, newCheckoutFinding } from './findings.ts'
import { type CheckoutInput, shippingOrBillingAddressOf } from './input.ts'
import {
  type CheckoutLineCheckContext,
  type CheckoutLineForSale,
  type CheckoutLineNotForSale,
  checkCheckoutLines
} from './lines.ts'

/** The market, rules, variants and stock on which a price depends, apart from the input of the client. */
export type CheckoutPricingContext = CheckoutLineCheckContext & {
  readonly market: Market
  readonly marketProblem?: CheckoutMarketProblem | undefined
  /** The shipping options. `undefined`: the shipping module is disabled. */
  readonly ratesOf: CalculateShippingOptions | undefined
  /** The regions on which shipping options depend, by country. */
  readonly regions: ReadonlyMap<string, ReadonlySet<string>> | undefined
  readonly rules: Awaited<ReturnType<PricingApi['readRules']>>
  readonly now: number
}
/** Why the price is of another market than the one that the client named. */
export type CheckoutMarketProblem = 'MARKET_GONE' | 'MARKET_DESTINATION'
export type PricedCheckout = {
  readonly market: Market
  readonly marketProblem: CheckoutMarketProblem | undefined
  readonly sold: readonly CheckoutLineForSale[]
  readonly unsold: readonly CheckoutLineNotForSale[]
  readonly method: DeliveryMethod
  /** Shipping options of the goods, cheapest first. */
  readonly options: readonly ShippingOption[]
  readonly quote: Quote
  readonly quoteInput: QuoteInput
  /** The tax engine of the shop. Null: it has none. */
  readonly taxEngine: AppliedTaxEngine | null
  readonly discounts: readonly CheckoutDiscount[]
  readonly findings: readonly CheckoutFinding[]
  /** The regions on which taxes or delivery depend in the country of the address. */
  readonly regions: ReadonlySet<string>
  /** The pricing rules of the quote. */
  readonly rules: CheckoutPricingContext['rules']
}

/** Calculates the price of a checkout. Pure, because `quote` is. @throws `PRICING_QUOTE_TOO_LARGE` */
export function calculateCheckoutPrice(
  input: CheckoutInput,
  context: CheckoutPricingContext,
  quote: PricingApi['quote']
): PricedCheckout {
  const { market, marketProblem, ratesOf } = context
  const { sold, unsold, findings } = checkCheckoutLines(input.lines, context)
  const shippedInput = quoteInputOf(input, context, sold, 'shipping')
  const shipped = quote(shippedInput)
  const carriesGoods = sold.some(({ variant }) => variant.requiresShipping)
  // The lines are discounted first, because shipping rates depend on their discounted prices.
  const options =
    ratesOf === undefined || !carriesGoods
      ? []
      : ratesOf(shippingParcelOf(sold, shipped, destinationOfGoods(input)))
  const isPickedUp = options.some(({ id, method }) => id === input.shippingOption && method === 'pickup')
  const quoteInput = isPickedUp ? quoteInputOf(input, context, sold, 'pickup') : shippedInput
  const quoted = isPickedUp ? quote(quoteInput) : shipped
  return {
    market,
    marketProblem,
    sold,
    unsold,
    method: isPickedUp ? 'pickup' : 'shipping',
    options,
    quote: quoted,
    quoteInput,
    taxEngine: null,
    rules: context.rules,
    regions: regionsForTaxAndDelivery(
      shippingOrBillingAddressOf(input)?.country ?? '',
      context.rules,
      context.regions
    ),
    discounts: discountsByPromotion(quoted, context.rules.promotions),
    findings: [
      ...findings,
      ...(carriesGoods && ratesOf === undefined ? findingsWithoutShipping(input) : []),
      ...quoted.findings
    ]
  }
}

/** The parcel of the goods, for which shipping options are listed. Pure. `undefined`: nothing is shipped. */
export function parcelOfCheckout(
  input: CheckoutInput,
  context: CheckoutPricingContext,
  quote: PricingApi['quote']
): ShippingParcel | undefined {
  const { sold } = checkCheckoutLines(input.lines, context)
  if (!sold.some(({ variant }) => variant.requiresShipping)) return undefined
  return shippingParcelOf(
    sold,
    quote(quoteInputOf(input, context, sold, 'shipping')),
    destinationOfGoods(input)
  )
}

/** Without the shipping module, delivery has no price, but the shop still needs the address. */
const findingsWithoutShipping = ({ shippingAddress }: CheckoutInput): CheckoutFinding[] => [
  ...(shippingAddress === null ? [newCheckoutFinding('ADDRESS_MISSING')] : []),
  newCheckoutFinding('DELIVERY_NOT_INCLUDED')
]

/** `method`: how goods reach the buyer. */
function quoteInputOf(
  input: CheckoutInput,
  { market, ratesOf, rules: { buyer, ...rules }, now }: CheckoutPricingContext,
  sold: readonly CheckoutLineForSale[],
  method: DeliveryMethod
): QuoteInput<ShippingOption> {
  const lines = sold.map(quoteLineOf)
  const taxedAt = shippingOrBillingAddressOf(input)
  const groups: QuoteInput['groups'] = [
    {
      key: GOODS_DELIVERY_GROUP_KEY,
      // Without the shipping module, delivery costs nothing here.
      method: ratesOf === undefined ? 'digital' : method,
      // Goods that are picked up are taxed at the location of the shop.
      destination: method === 'pickup' ? null : destinationOfGoods(input),
      choice: input.shippingOption
    },
    {
      key: DIGITAL_DELIVERY_GROUP_KEY,
      method: 'digital',
      destination: taxedAt === null ? null : destinationOfAddress(taxedAt),
      choice: null
    }
  ]
  return {
    market,
    lines,
    codes: input.codes,
    now,
    groups: groups.filter(({ key }) => lines.some(({ group }) => group === key)),
    // Customers have no groups yet.
    buyer: { ...buyer, group: null },
    rules: {
      ...rules,
      ratesOf: ({ method, ...parcel }) => {
        const options =
          ratesOf?.({ ...parcel, destination: destinationOfGoods(input), requiresShipping: true }) ?? []
        return options.filter(option => option.method === method)
      }
    }
  }
}

const destinationOfGoods = ({ shippingAddress }: CheckoutInput) =>
  shippingAddress === null ? null : destinationOfAddress(shippingAddress)

const quoteLineOf = ({ id, variantId, quantity, variant }: CheckoutLineForSale): QuoteLine => ({
  key: id,
  variantId,
  productId: variant.productId,
  categoryIds: variant.categoryIds,
  quantity,
  priceMinor: variant.price.minor,
  discountedPriceMinor: variant.price.discountedMinor,
  taxCategory: variant.taxCategory,
  requiresShipping: variant.requiresShipping,
  weightGrams: variant.weightGrams,
  group: variant.requiresShipping ? GOODS_DELIVERY_GROUP_KEY : DIGITAL_DELIVERY_GROUP_KEY
})
