import { found } from '../../../kernel/errors.ts'
import type { RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { FindBuyerLimitKeys } from '../buyers/service.ts'
import { isBlockingFinding } from '../checkouts/findings.ts'
import { type CheckoutInput, validCheckoutEmailOrNull } from '../checkouts/input.ts'
import { findCheckoutInputProblems } from '../checkouts/input-checks.ts'
import type { PriceCheckout } from '../checkouts/pricer.ts'
import type { ReadCheckoutInput } from '../checkouts/read-input.ts'
import { findCheckoutOfAnyBuyer } from '../checkouts/repository.ts'
import { checkoutFindingView, checkoutPriceView } from '../checkouts/view.ts'
import { checkoutItemsAmbiguousError, checkoutNotFoundError } from '../errors.ts'
import type { OrderQuoteRequest, OrderQuoteResponse } from './quote-schema.ts'

type Deps = {
  db: Queryable
  readCheckoutInput: ReadCheckoutInput
  priceCheckout: PriceCheckout
  findBuyerKeys: FindBuyerLimitKeys
  pricing: Pick<PricingApi, 'explainFindings'>
}
type Subject = { readonly customerId: string | null; readonly input: CheckoutInput }

/**
 * Calculates what a buyer would pay, as for a checkout, and explains codes without effect. Nothing is stored.
 */
export function createOrderQuoteService({
  db,
  readCheckoutInput,
  priceCheckout,
  findBuyerKeys,
  pricing
}: Deps) {
  async function findSubject(body: OrderQuoteRequest, named: string | undefined): Promise<Subject> {
    assertOneSource(body)
    const { checkout_id: id, customer_id: customerId = null, ...fields } = body
    if (id !== undefined) {
      const { customer_id, input } = found(
        await db.first(findCheckoutOfAnyBuyer, { id }),
        checkoutNotFoundError
      )
      return { customerId: customer_id, input: { ...input, codes: fields.codes ?? input.codes } }
    }
    const { input } = await readCheckoutInput(customerId, {
      ...(named !== undefined && { market: named }),
      ...fields
    })
    return { customerId, input }
  }

  /**
   * `named`: the market that a header or the query names.
   * @throws `CHECKOUT_NOT_FOUND`, `CHECKOUT_SOURCE_UNCLEAR`, `CHECKOUT_CARTS_OFF`, `CART_EMPTY`,
   * `PRICING_MARKET_UNKNOWN`, `PRICING_QUOTE_TOO_LARGE`
   */
  async function quote(
    body: OrderQuoteRequest,
    named: string | undefined,
    withoutSlot: RunWithoutRequestSlot
  ): Promise<OrderQuoteResponse> {
    const { customerId, input } = await findSubject(body, named)
    // Administrators may see findings that reveal earlier orders of the buyer.
    const keys = await findBuyerKeys({ customerId, email: validCheckoutEmailOrNull(input), network: null })
    const priced = await priceCheckout(db, customerId, input, {
      buyer: keys,
      isTrusted: true,
      request: { withoutSlot, clientNetwork: null }
    })
    const { market, rules, quote: quoted } = priced
    const row = { input, customer_id: customerId, quote_hash: quoted.hash }
    const findings = [...findCheckoutInputProblems(row, priced, false), ...priced.findings]
    const buyer = { ...rules.buyer, group: null }
    const explained = await pricing.explainFindings(quoted.findings, { market, rules, buyer })
    const reasonOf = new Map(
      explained.map(({ finding, promotionId, reason }) => [finding, { promotion_id: promotionId, reason }])
    )
    return {
      customer_id: customerId,
      ready: !findings.some(isBlockingFinding),
      ...checkoutPriceView(priced),
      findings: findings.map(each => ({
        ...checkoutFindingView(each),
        ...('promotionCode' in each && reasonOf.get(each))
      }))
    }
  }

  return { quote }
}
export type OrderQuoteService = ReturnType<typeof createOrderQuoteService>

/** @throws `CHECKOUT_SOURCE_UNCLEAR` */
function assertOneSource({ checkout_id, codes: _, ...others }: OrderQuoteRequest): void {
  const { cart, customer_id } = others
  if (checkout_id !== undefined && Object.keys(others).length > 0)
    throw sourceError(Object.keys(others), 'must not be sent together with checkout_id')
  if (cart !== undefined && customer_id === undefined)
    throw sourceError(['customer_id'], 'is required with cart')
}

const sourceError = (fields: readonly string[], message: string) =>
  checkoutItemsAmbiguousError({
    details: { errors: fields.map(field => ({ path: `body/${field}`, message })) }
  })
