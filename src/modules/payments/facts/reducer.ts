import { sumBy } from '../../../kernel/sum-by.ts'
import { latestPaymentFactOfEachObject, type PaymentFactKind, type RankedPaymentFact } from './fact.ts'

export type PaymentStatus =
  | 'pending'
  | 'requires_action'
  | 'authorized'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'partially_refunded'
  | 'refunded'

export type OrderPaymentAccountStatus =
  | 'unpaid'
  | 'authorized'
  | 'partially_paid'
  | 'paid'
  | 'partially_refunded'
  | 'refunded'

/** Sums of facts, in minor units. */
type Sums = {
  /** Authorized and not captured. */
  readonly authorized: number
  readonly captured: number
  readonly refunded: number
  /** Requested refunds that have neither succeeded nor failed. */
  readonly refunding: number
  /** Open and lost disputes. */
  readonly disputed: number
}
export type PaymentState = Sums & {
  readonly status: PaymentStatus
  /** When the authorization expires, in seconds since 1970. Null: nothing is authorized, or the provider does not state it. */
  readonly authorizedUntil: number | null
  /** Whether the payment is open: it can still be captured. */
  readonly isOpen: boolean
}

/** The operation of a requested refund that has no result. */
export type UnsettledRefund = { readonly id: string; readonly amount: number }

/** Derives the state of one payment from the set of its facts. Order and repetition of the facts do not matter. */
export function derivePaymentState(
  facts: readonly RankedPaymentFact[],
  openRefunds: readonly UnsettledRefund[]
): PaymentState {
  const known = latestPaymentFactOfEachObject(facts)
  const sum = (kind: PaymentFactKind, ...statuses: string[]) =>
    known
      .filter(fact => fact.kind === kind && statuses.includes(fact.status))
      .reduce((total, { amount }) => total + amount, 0)
  const captured = sum('capture', 'succeeded')
  // A callback can report a refund before the API response does. It is counted once: as a fact, not also as pending.
  const reportedOperations = new Set(known.map(({ operationId }) => operationId))
  const unreportedRefunds = openRefunds.filter(({ id }) => !reportedOperations.has(id))
  const sums = {
    captured,
    // A canceled payment releases its authorization, even if the provider does not report the release.
    authorized: has(known, 'intent', 'canceled') ? 0 : Math.max(0, sum('authorization', 'held') - captured),
    refunded: sum('refund', 'succeeded'),
    refunding: sum('refund', 'pending') + unreportedRefunds.reduce((total, { amount }) => total + amount, 0),
    disputed: sum('dispute', 'open', 'lost')
  }
  const isClosed =
    captured > 0 || has(known, 'intent', 'canceled', 'succeeded') || has(known, 'authorization', 'expired')
  const isOpen = sums.authorized > 0 || has(known, 'capture', 'pending') || !isClosed
  const authorizedUntil = sums.authorized > 0 ? endOf(known) : null
  return { ...sums, status: paymentStatusOf(known, sums), authorizedUntil, isOpen }
}

function endOf(known: readonly RankedPaymentFact[]): number | null {
  const ends = known.flatMap(({ kind, status, expiresAt }) =>
    kind === 'authorization' && status === 'held' ? (expiresAt ?? []) : []
  )
  return ends.length === 0 ? null : Math.min(...ends)
}

const has = (known: readonly RankedPaymentFact[], kind: PaymentFactKind, ...statuses: string[]) =>
  known.some(fact => fact.kind === kind && statuses.includes(fact.status))

function paymentStatusOf(
  known: readonly RankedPaymentFact[],
  { captured, authorized, refunded }: Sums
): PaymentStatus {
  if (captured > 0) {
    if (refunded >= captured) return 'refunded'
    return refunded > 0 ? 'partially_refunded' : 'succeeded'
  }
  if (has(known, 'intent', 'canceled') || has(known, 'authorization', 'expired')) return 'canceled'
  if (authorized > 0) return 'authorized'
  if (has(known, 'intent', 'processing') || has(known, 'capture', 'pending')) return 'pending'
  if (has(known, 'attempt', 'requires_action')) return 'requires_action'
  return has(known, 'attempt', 'failed') || has(known, 'capture', 'failed') ? 'failed' : 'pending'
}

export type OrderPaymentAccountState = Sums & {
  /** Amount that no other payment may cover: the full amount of open payments and the captured amount of closed ones. */
  readonly committed: number
  readonly status: OrderPaymentAccountStatus
  readonly isOverpaid: boolean
  readonly isDisputed: boolean
}

/**
 * Selects the open payments to void: all of a frozen order, else those without an authorization when the payments exceed the
 * amount due.
 */
export const selectPaymentsToVoid = <P extends PaymentState>(
  payments: readonly P[],
  { committed }: Pick<OrderPaymentAccountState, 'committed'>,
  { due, isFrozen }: { due: number; isFrozen: boolean }
): P[] =>
  payments.filter(
    ({ isOpen, authorized, captured }) =>
      isOpen && (isFrozen || (committed > due && authorized === 0 && captured === 0))
  )

/** Derives the state of an account from the payments of its order. */
export function deriveOrderPaymentAccountState(
  due: number,
  payments: readonly (PaymentState & { readonly amount: number })[]
): OrderPaymentAccountState {
  const sums: Sums = {
    authorized: sumBy(payments, ({ authorized }) => authorized),
    captured: sumBy(payments, ({ captured }) => captured),
    refunded: sumBy(payments, ({ refunded }) => refunded),
    refunding: sumBy(payments, ({ refunding }) => refunding),
    disputed: sumBy(payments, ({ disputed }) => disputed)
  }
  return {
    ...sums,
    committed: sumBy(payments, payment => (payment.isOpen ? payment.amount : payment.captured)),
    status: accountStatusOf(due, { ...sums, refunded: sumBy(payments, refundedUpToCaptured) }),
    isOverpaid: sums.captured - sums.refunded > due,
    isDisputed: sums.disputed > 0
  }
}

/** The refunded amount, at most what was captured: a refund can be reported before its capture. */
export const refundedUpToCaptured = ({ captured, refunded }: Pick<Sums, 'captured' | 'refunded'>): number =>
  Math.min(captured, refunded)

function accountStatusOf(due: number, { captured, refunded, authorized }: Sums): OrderPaymentAccountStatus {
  // A refund of the overpaid amount leaves the order paid.
  const returned = refunded - Math.max(0, captured - due)
  if (refunded > 0 && refunded >= captured) return 'refunded'
  if (refunded > 0 && returned > 0) return 'partially_refunded'
  if (captured >= due) return 'paid'
  if (captured > 0) return 'partially_paid'
  return authorized >= due ? 'authorized' : 'unpaid'
}
