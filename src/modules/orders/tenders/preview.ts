import type { RunWithoutRequestSlot } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { type Buyer, clientNetworkOfBuyer, customerIdOfBuyer, waitingRequestOf } from '../buyers/buyer.ts'
import type { PriceCheckout } from '../checkouts/pricer.ts'
import { assertCheckoutOpen, type CheckoutService } from '../checkouts/service.ts'
import type { TenderPreviewResponse } from './preview-schema.ts'
import type { NamedTender, OrderTenders } from './service.ts'

type Deps = {
  db: Database
  checkouts: Pick<CheckoutService, 'find'>
  priceCheckout: PriceCheckout
  tenders: Pick<OrderTenders, 'preview'>
}

/**
 * Creates the function that returns what tenders would cover of a checkout now, and what is left for a payment. It stores and
 * reserves nothing. @throws `CHECKOUT_NOT_FOUND`, as `assertCheckoutOpen`, and as `OrderTenders.reserve`
 */
export const createTenderPreview =
  ({ db, checkouts, priceCheckout, tenders }: Deps) =>
  async (
    buyer: Buyer,
    checkoutId: string,
    named: readonly NamedTender[],
    withoutSlot: RunWithoutRequestSlot
  ): Promise<TenderPreviewResponse> => {
    const checkout = await checkouts.find(buyer, checkoutId)
    assertCheckoutOpen(checkout)
    const customerId = customerIdOfBuyer(buyer)
    const request = waitingRequestOf(buyer, { withoutSlot })
    const { quote } = await priceCheckout(db, customerId, checkout.input, { request })
    const { currency, totals } = quote
    const { covers, dueMinor } = await tenders.preview({
      named,
      currency,
      totalMinor: totals.totalMinor,
      buyer: { customerId, network: clientNetworkOfBuyer(buyer) }
    })
    return {
      currency,
      total: totals.totalMinor,
      tenders: covers.map(({ type, label, amountMinor }) => ({ type, label, amount: amountMinor })),
      due: dueMinor
    }
  }
export type PreviewTenders = ReturnType<typeof createTenderPreview>
