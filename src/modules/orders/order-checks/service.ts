import { callWithTimeout } from '../../../kernel/call-with-timeout.ts'
import type { PortReader } from '../../../kernel/ports.ts'
import type { IdempotentWrite, RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import type { Log } from '../../../platform/log.ts'
import { type Buyer, customerIdOfBuyer } from '../buyers/buyer.ts'
import { type CheckoutFinding, newCheckoutFinding } from '../checkouts/findings.ts'
import type { CheckoutInput } from '../checkouts/input.ts'
import type { PricedCheckout } from '../checkouts/price.ts'
import { checkoutFindingView, checkoutPriceView } from '../checkouts/view.ts'
import { orderCheckUnavailableError, orderNotAllowedError, orderPriceChangedError } from '../errors.ts'
import { orderCheckPort, type PurchaseToCheck } from './port.ts'
import { findingOfRefusal, findRefusalFault, purchaseToCheckOf } from './refusals.ts'

const CHECK_MS_MAX = 2_000
const RETRY_SECONDS = 2

type Deps = { ports: PortReader; log: Log }
type Outcome = {
  readonly refused: readonly CheckoutFinding[]
  /** Names of checks without a valid answer in time. */
  readonly unanswered: readonly string[]
}

/** Calls the checks of other modules before an order is placed. Without such modules it does nothing. */
export function createOrderChecks({ ports, log }: Deps) {
  const hasChecks = () => ports.all(orderCheckPort).length > 0

  /** Calls all checks simultaneously. While it waits, the request holds no slot. */
  const run = (purchase: PurchaseToCheck, withoutSlot: RunWithoutRequestSlot): Promise<Outcome> =>
    withoutSlot(async () => {
      const outcomes = await Promise.all(
        ports.all(orderCheckPort).map(async ({ name, provider }): Promise<Outcome> => {
          try {
            const refusals = await callWithTimeout(CHECK_MS_MAX, async signal =>
              provider(structuredClone(purchase), signal)
            )
            const fault = findRefusalFault(refusals, purchase)
            if (fault !== undefined) throw new Error(fault)
            return { refused: refusals.map(each => findingOfRefusal(each, purchase)), unanswered: [] }
          } catch (error) {
            log.error({ err: error, check: name }, 'a check of an order failed')
            return { refused: [], unanswered: [name] }
          }
        })
      )
      return {
        refused: outcomes.flatMap(({ refused }) => refused),
        unanswered: outcomes.flatMap(({ unanswered }) => unanswered)
      }
    })

  return {
    /** Returns what the checks find in an open checkout, for its buyer. A check without an answer does not block it. */
    findingsOf: async (
      customerId: string | null,
      input: CheckoutInput,
      priced: PricedCheckout,
      withoutSlot: RunWithoutRequestSlot
    ): Promise<readonly CheckoutFinding[]> => {
      if (!hasChecks()) return []
      const { refused, unanswered } = await run(purchaseToCheckOf(customerId, input, priced), withoutSlot)
      return unanswered.length === 0 ? refused : [...refused, newCheckoutFinding('ORDER_CHECK_UNAVAILABLE')]
    },
    /**
     * Calculates the price of a purchase and asserts that no check refuses it. Checks take time, so the price is
     * calculated again after them: the order has exactly what the checks have seen.
     * @throws `ORDER_NOT_ALLOWED`, `ORDER_CHECK_UNAVAILABLE`, `ORDER_PRICE_CHANGED`
     */
    priceAllowed: async (
      { buyer, input }: { readonly buyer: Buyer; readonly input: CheckoutInput },
      { withoutSlot }: Pick<IdempotentWrite, 'withoutSlot'>,
      calculatePrice: () => Promise<PricedCheckout>
    ): Promise<PricedCheckout> => {
      const seen = await calculatePrice()
      if (!hasChecks()) return seen
      const purchase = purchaseToCheckOf(customerIdOfBuyer(buyer), input, seen)
      const { refused, unanswered } = await run(purchase, withoutSlot)
      if (refused.length > 0)
        throw orderNotAllowedError({ details: { findings: refused.map(checkoutFindingView) } })
      if (unanswered.length > 0)
        throw orderCheckUnavailableError({
          details: { checks: unanswered },
          retryAfterSeconds: RETRY_SECONDS
        })
      const now = await calculatePrice()
      if (now.quote.hash !== seen.quote.hash)
        throw orderPriceChangedError({
          details: { quote: checkoutPriceView(now), findings: now.findings.map(checkoutFindingView) }
        })
      return now
    }
  }
}
export type OrderChecks = ReturnType<typeof createOrderChecks>
