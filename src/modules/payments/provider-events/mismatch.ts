import type { PaymentFact } from '../facts/fact.ts'
import type { PaymentForProvider, PaymentProviderCallbackEvent } from '../providers/port.ts'

/** Returns why a provider event contradicts this payment. Returns `undefined` when it fits. */
export function findPaymentProviderEventMismatch(
  { about, whole, facts }: Pick<PaymentProviderCallbackEvent, 'about' | 'whole' | 'facts'>,
  ours: Omit<PaymentForProvider, 'method'>
): string | undefined {
  if (about === null) return 'it names no payment'
  if (about.paymentId !== null && about.paymentId !== ours.id) return 'it names another payment'
  if (about.orderId !== null && about.orderId !== ours.orderId) return 'it names another order'
  if (ours.objectId !== null && about.objectId !== ours.objectId)
    return 'its object is not that of the payment'
  // Facts that move no money are accepted with a wrong amount, so that the payment can still be voided.
  if (facts.length > 0 && facts.every(movesNoMoney)) return undefined
  if (whole !== null && whole.currency !== ours.currency) return `it is in ${whole.currency}`
  if (whole !== null && whole.amount !== ours.amount) return `it is for ${whole.amount}`
  const strange = facts.find(({ amount, currency }) => currency !== ours.currency || amount > ours.amount)
  return strange && `it reports a ${strange.kind} of ${strange.amount} ${strange.currency}`
}

const movesNoMoney = ({ kind, status }: PaymentFact) =>
  kind === 'attempt' ||
  (kind === 'intent' && status === 'canceled') ||
  (kind === 'authorization' && (status === 'released' || status === 'expired'))
