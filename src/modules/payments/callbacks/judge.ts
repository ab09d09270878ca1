import type { Fact } from '../facts/fact.ts'
import type { CallbackEvent, PaymentRef } from '../providers/port.ts'

/** Why something said cannot be about this payment of ours; `undefined` when it can. */
export function whyNot(
  { about, whole, facts }: Pick<CallbackEvent, 'about' | 'whole' | 'facts'>,
  ours: Omit<PaymentRef, 'method'>
): string | undefined {
  if (about === null) return 'it is about no payment'
  if (about.paymentId !== null && about.paymentId !== ours.id) return 'it names another payment'
  if (about.orderId !== null && about.orderId !== ours.orderId) return 'it names another order'
  if (ours.objectId !== null && about.objectId !== ours.objectId)
    return 'it is another object than the one we know'
  // Whatever it was for, it takes nothing any more: so a payment of a wrong amount can be let go of.
  if (facts.length > 0 && facts.every(takesNothing)) return undefined
  if (whole !== null && whole.currency !== ours.currency) return `it is in ${whole.currency}`
  if (whole !== null && whole.amount !== ours.amount) return `it is for ${whole.amount}`
  const strange = facts.find(({ amount, currency }) => currency !== ours.currency || amount > ours.amount)
  return strange && `it says ${strange.kind} of ${strange.amount} ${strange.currency}`
}

const takesNothing = ({ kind, status }: Fact) =>
  kind === 'attempt' ||
  (kind === 'intent' && status === 'canceled') ||
  (kind === 'authorization' && (status === 'released' || status === 'expired'))
