import type { Market, PricingApi, Quote, QuoteInput, QuoteLine } from '../../pricing/index.ts'
import type { ShippingOption } from '../../shipping/index.ts'
import { regionsThatMatter } from '../countries/rule.ts'
import { destinationOf } from './addresses.ts'
import { DIGITAL, GOODS, type Method, parcelOf, type RatesOf } from './delivery.ts'
import { type Discount, discountsOf } from './discounts.ts'
import { type Finding, finding } from './findings.ts'
import { addressOf, type CheckoutInput } from './input.ts'
import { judgeLines, type Shelf, type SoldLine, type UnsoldLine } from './lines.ts'

/** All that a price depends on beside what the client said. */
export type Circumstances = Shelf & {
  readonly market: Market
  readonly marketProblem?: MarketProblem | undefined
  /** `undefined`: nobody knows what delivery costs. */
  readonly ratesOf: RatesOf | undefined
  /** The regions on which delivery depends, by country. */
  readonly regions: ReadonlyMap<string, ReadonlySet<string>> | undefined
  readonly rules: Awaited<ReturnType<PricingApi['rules']>>
  readonly now: number
}
/** Why it is priced in another market than the one that the request named. */
export type MarketProblem = 'MARKET_GONE' | 'MARKET_DESTINATION'
export type Priced = {
  readonly market: Market
  readonly marketProblem: MarketProblem | undefined
  readonly sold: readonly SoldLine[]
  readonly unsold: readonly UnsoldLine[]
  /** How goods come. */
  readonly method: Method
  /** All ways to have them. */
  readonly options: readonly ShippingOption[]
  readonly quote: Quote
  readonly discounts: readonly Discount[]
  readonly findings: readonly Finding[]
  /** The regions on which taxes or delivery depend in the country of the address. */
  readonly regions: ReadonlySet<string>
  /** What the quote was made by. */
  readonly rules: Circumstances['rules']
}

/** What a checkout costs. Pure, as the quote is that it asks for. @throws `PRICING_QUOTE_TOO_LARGE` */
export function price(input: CheckoutInput, given: Circumstances, quote: PricingApi['quote']): Priced {
  const { market, marketProblem, ratesOf } = given
  const { sold, unsold, findings } = judgeLines(input.lines, given)
  const shipped = quote(quoteInputOf(input, given, sold, 'shipping'))
  const carriesGoods = sold.some(({ variant }) => variant.requiresShipping)
  // What deliveries cost depends on what is left of the lines, which does not depend on deliveries.
  const options =
    ratesOf === undefined || !carriesGoods ? [] : ratesOf(parcelOf(sold, shipped, goodsTo(input)))
  const isPickedUp = options.some(({ id, method }) => id === input.shippingOption && method === 'pickup')
  const quoted = isPickedUp ? quote(quoteInputOf(input, given, sold, 'pickup')) : shipped
  return {
    ...{
      market,
      marketProblem,
      sold,
      unsold,
      method: isPickedUp ? 'pickup' : 'shipping',
      options,
      quote: quoted
    },
    rules: given.rules,
    regions: regionsThatMatter(addressOf(input)?.country ?? '', given.rules, given.regions),
    discounts: discountsOf(quoted, given.rules.promotions),
    findings: [
      ...findings,
      ...(carriesGoods && ratesOf === undefined ? unpriced(input) : []),
      ...quoted.findings
    ]
  }
}

/** Where nobody knows what delivery costs, where it goes has to be known all the same. */
const unpriced = ({ shippingAddress }: CheckoutInput): Finding[] => [
  ...(shippingAddress === null ? [finding('ADDRESS_MISSING')] : []),
  finding('DELIVERY_NOT_INCLUDED')
]

/** `method`: how goods come. Nobody has them picked up without having said so. */
function quoteInputOf(
  input: CheckoutInput,
  { market, ratesOf, rules: { buyer, ...rules }, now }: Circumstances,
  sold: readonly SoldLine[],
  method: Method
): QuoteInput<ShippingOption> {
  const lines = sold.map(quoteLineOf)
  const taxedAt = addressOf(input)
  const groups: QuoteInput['groups'] = [
    {
      key: GOODS,
      // Where nobody knows what delivery costs, it costs nothing here.
      method: ratesOf === undefined ? 'digital' : method,
      // What is picked up is taxed where the shop is.
      destination: method === 'pickup' ? null : goodsTo(input),
      choice: input.shippingOption
    },
    {
      key: DIGITAL,
      method: 'digital',
      destination: taxedAt === null ? null : destinationOf(taxedAt),
      choice: null
    }
  ]
  return {
    ...{ market, lines, codes: input.codes, now },
    groups: groups.filter(({ key }) => lines.some(({ group }) => group === key)),
    // Nobody says yet which group a customer is in.
    buyer: { ...buyer, group: null },
    rules: {
      ...rules,
      ratesOf: ({ method, ...parcel }) => {
        const options = ratesOf?.({ ...parcel, destination: goodsTo(input), requiresShipping: true }) ?? []
        return options.filter(option => option.method === method)
      }
    }
  }
}

const goodsTo = ({ shippingAddress }: CheckoutInput) =>
  shippingAddress === null ? null : destinationOf(shippingAddress)

/** Its variant is its key: in whatever order lines come, they cost the same. */
const quoteLineOf = ({ variantId, quantity, variant }: SoldLine): QuoteLine => ({
  key: variantId,
  variantId,
  productId: variant.productId,
  categoryIds: variant.categoryIds,
  quantity,
  priceMinor: variant.price.minor,
  discountedPriceMinor: variant.price.discountedMinor,
  taxCategory: variant.taxCategory,
  requiresShipping: variant.requiresShipping,
  weightGrams: variant.weightGrams,
  group: variant.requiresShipping ? GOODS : DIGITAL
})
