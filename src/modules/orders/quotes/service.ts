import { found } from '../../../kernel/errors.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { PricingApi } from '../../pricing/index.ts'
import { isBlocking } from '../checkouts/findings.ts'
import { type CheckoutInput, emailOf } from '../checkouts/input.ts'
import type { Intake } from '../checkouts/intake.ts'
import type { PriceNow } from '../checkouts/pricer.ts'
import { remarksOn } from '../checkouts/remarks.ts'
import { findAnyCheckout } from '../checkouts/repository.ts'
import { findingOf, priceView } from '../checkouts/view.ts'
import { checkoutNotFound, sourceUnclear } from '../errors.ts'
import type { BuyerOf } from '../placing/buyers.ts'
import type { OrderQuoteRequest, OrderQuoteResponse } from './schema.ts'

type Deps = {
  db: Queryable
  intake: Intake
  priceNow: PriceNow
  buyerOf: BuyerOf
  pricing: Pick<PricingApi, 'explain'>
}
/** What an administrator asks for, and the market that the request names. */
type Asked = { readonly body: OrderQuoteRequest; readonly market: string | null }
type Subject = { readonly customerId: string | null; readonly input: CheckoutInput }

/** What something would cost somebody, in the way checkouts are priced, and why codes do not count. Nothing is kept. */
export function createQuotes({ db, intake, priceNow, buyerOf, pricing }: Deps) {
  async function subjectOf({ body, market }: Asked): Promise<Subject> {
    const { checkout_id: id, ...said } = body
    refuseUnclear(body)
    if (id !== undefined) {
      const { customer_id, input } = found(await db.first(findAnyCheckout, { id }), checkoutNotFound)
      return { customerId: customer_id, input: { ...input, codes: said.codes ?? input.codes } }
    }
    const { customer_id: customerId = null, market: named = market, ...rest } = said
    const { input } = await intake(customerId, { body: rest, market: named })
    return { customerId, input }
  }

  /**
   * @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_SOURCE_UNCLEAR`, `CHECKOUT_CARTS_OFF`, `CART_EMPTY`,
   * `PRICING_MARKET_UNKNOWN`, `PRICING_QUOTE_TOO_LARGE`
   */
  async function quote(asked: Asked): Promise<OrderQuoteResponse> {
    const { customerId, input } = await subjectOf(asked)
    // An administrator may learn what a buyer has bought.
    const buyerOfQuote = await buyerOf({ customerId, email: emailOf(input), network: null })
    const priced = await priceNow(db, customerId, input, { buyer: buyerOfQuote, isTrusted: true })
    const { market, rules, quote: quoted } = priced
    const row = { input, customer_id: customerId, quote_hash: quoted.hash }
    const findings = [...remarksOn(row, priced, false), ...priced.findings]
    const buyer = { ...rules.buyer, group: null }
    const explained = await pricing.explain(quoted.findings, { market, rules, buyer })
    const reasonOf = new Map(
      explained.map(({ finding, promotionId, reason }) => [finding, { promotion_id: promotionId, reason }])
    )
    return {
      customer_id: customerId,
      ready: !findings.some(isBlocking),
      ...priceView(priced),
      findings: findings.map(each => ({
        ...findingOf(each),
        ...('promotionCode' in each && reasonOf.get(each))
      }))
    }
  }

  return { quote }
}
export type Quotes = ReturnType<typeof createQuotes>

/** @throws `CHECKOUT_SOURCE_UNCLEAR` */
function refuseUnclear({ checkout_id, codes: _, ...others }: OrderQuoteRequest): void {
  const { cart, customer_id } = others
  if (checkout_id !== undefined && Object.keys(others).length > 0)
    throw unclear(Object.keys(others), 'must not be sent together with checkout_id')
  if (cart !== undefined && customer_id === undefined) throw unclear(['customer_id'], 'is required with cart')
}

const unclear = (fields: readonly string[], message: string) =>
  sourceUnclear({ details: { errors: fields.map(field => ({ path: `body/${field}`, message })) } })
