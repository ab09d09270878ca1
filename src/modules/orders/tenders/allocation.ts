import { sumBy } from '../../../kernel/sum-by.ts'
import type { OrderPaymentStatus } from '../lifecycle/status.ts'

// How an order is split between tenders and payments. Everything here is arithmetic: no database, no provider.

/** A tender of an order, with what it gave and what it got back, in minor units. */
export type TenderAmounts = {
  readonly id: string
  readonly amountMinor: number
  readonly refundedMinor: number
}
/** What the payments of an order have captured and given back, or are about to give back. */
type PaymentAmounts = { readonly captured: number; readonly refunded: number; readonly refunding: number }

/**
 * Covers a total with tenders, one after another as the buyer names them. Each is asked for its `amount`, or for everything
 * that is left; `ask` returns what it covers of that. Stops when nothing is left, so later tenders stay unused. The rest is
 * due to payments.
 */
export async function coverTotal<
  T extends { readonly amount?: number | undefined },
  C extends { amountMinor: number }
>(
  totalMinor: number,
  named: readonly T[],
  ask: (tender: T, wantedMinor: number, position: number) => Promise<C>
): Promise<{ covers: C[]; dueMinor: number }> {
  const covers: C[] = []
  let dueMinor = totalMinor
  for (const [position, tender] of named.entries()) {
    const wantedMinor = Math.min(tender.amount ?? dueMinor, dueMinor)
    if (wantedMinor === 0) continue
    const cover = await ask(tender, wantedMinor, position)
    covers.push(cover)
    dueMinor -= cover.amountMinor
  }
  return { covers, dueMinor }
}

/** What a tender gave and did not get back. */
const heldByTender = ({ amountMinor, refundedMinor }: TenderAmounts): number => amountMinor - refundedMinor

/** What the tenders of an order gave and did not get back. */
export const heldByTenders = (tenders: readonly TenderAmounts[]): number => sumBy(tenders, heldByTender)

/**
 * Splits a refund. Money returns to the payments first, up to what they hold. The rest goes to the tenders, the last one
 * first. So a buyer who paid a part by card gets that part back as money, and no tender gets more than it gave.
 */
export function splitRefund(
  refundMinor: number,
  heldByPaymentsMinor: number,
  tenders: readonly TenderAmounts[]
): { paymentsMinor: number; tenders: { id: string; amountMinor: number }[] } {
  const paymentsMinor = Math.min(refundMinor, heldByPaymentsMinor)
  let restMinor = refundMinor - paymentsMinor
  const parts = tenders.toReversed().map(tender => {
    const amountMinor = Math.min(restMinor, heldByTender(tender))
    restMinor -= amountMinor
    return { id: tender.id, amountMinor }
  })
  if (restMinor > 0) throw new Error(`a refund exceeds what payments and tenders hold by ${restMinor}`)
  return { paymentsMinor, tenders: parts.filter(({ amountMinor }) => amountMinor > 0) }
}

/**
 * The payment status of an order with tenders. Payments know only the rest that is due to them, so their status stands until
 * something is refunded. From then on it depends on what payments and tenders hold together.
 */
export function paymentStatusWithTenders(
  status: OrderPaymentStatus,
  { captured, refunded }: PaymentAmounts,
  tenders: readonly TenderAmounts[]
): OrderPaymentStatus {
  const hasRefund = status === 'refunded' || sumBy(tenders, ({ refundedMinor }) => refundedMinor) > 0
  if (!hasRefund) return status
  return Math.max(0, captured - refunded) + heldByTenders(tenders) > 0 ? 'partially_refunded' : 'refunded'
}
