import { type FactKind, latest, type RankedFact } from './fact.ts'

export type PaymentStatus =
  | 'pending'
  | 'requires_action'
  | 'authorized'
  | 'succeeded'
  | 'failed'
  | 'canceled'
  | 'partially_refunded'
  | 'refunded'

export type AccountStatus =
  | 'unpaid'
  | 'authorized'
  | 'partially_paid'
  | 'paid'
  | 'partially_refunded'
  | 'refunded'

/** What facts add up to, in minor units. */
type Sums = {
  /** Held for us, and not yet taken. */
  readonly authorized: number
  readonly captured: number
  readonly refunded: number
  /** Refunds that are asked for, and are neither done nor failed. */
  readonly refunding: number
  /** What customers want back by their banks, and what these have given them. */
  readonly disputed: number
}
export type PaymentState = Sums & {
  readonly status: PaymentStatus
  /** When what is held runs out, in seconds since 1970; null: nothing is held, or nobody said. */
  readonly authorizedUntil: number | null
  /** More may still be taken by it. */
  readonly isOpen: boolean
}

/** A refund that was asked for, and of which no answer has come: its operation. */
export type OpenRefund = { readonly id: string; readonly amount: number }

/** What became of one payment: a function of the set of its facts, whatever the order and however often each came. */
export function reducePayment(
  facts: readonly RankedFact[],
  openRefunds: readonly OpenRefund[]
): PaymentState {
  const known = latest(facts)
  const sum = (kind: FactKind, ...statuses: string[]) =>
    known
      .filter(fact => fact.kind === kind && statuses.includes(fact.status))
      .reduce((total, { amount }) => total + amount, 0)
  const captured = sum('capture', 'succeeded')
  // A callback may tell of a refund before the answer does: it is counted as the fact that it is, and not as asked for, too.
  const told = new Set(known.map(({ operationId }) => operationId))
  const untold = openRefunds.filter(({ id }) => !told.has(id))
  const sums = {
    captured,
    // Whoever cancels a payment lets go of what it held, whether or not that was said, too.
    authorized: has(known, 'intent', 'canceled') ? 0 : Math.max(0, sum('authorization', 'held') - captured),
    refunded: sum('refund', 'succeeded'),
    refunding: sum('refund', 'pending') + untold.reduce((total, { amount }) => total + amount, 0),
    disputed: sum('dispute', 'open', 'lost')
  }
  const isOver =
    captured > 0 || has(known, 'intent', 'canceled', 'succeeded') || has(known, 'authorization', 'expired')
  const isOpen = sums.authorized > 0 || has(known, 'capture', 'pending') || !isOver
  const authorizedUntil = sums.authorized > 0 ? endOf(known) : null
  return { ...sums, status: statusOf(known, sums), authorizedUntil, isOpen }
}

function endOf(known: readonly RankedFact[]): number | null {
  const ends = known.flatMap(({ kind, status, expiresAt }) =>
    kind === 'authorization' && status === 'held' ? (expiresAt ?? []) : []
  )
  return ends.length === 0 ? null : Math.min(...ends)
}

const has = (known: readonly RankedFact[], kind: FactKind, ...statuses: string[]) =>
  known.some(fact => fact.kind === kind && statuses.includes(fact.status))

function statusOf(known: readonly RankedFact[], { captured, authorized, refunded }: Sums): PaymentStatus {
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

export type AccountState = Sums & {
  /** What no other payment can be made for: of open payments all, of those that are over what they took. */
  readonly committed: number
  readonly status: AccountStatus
  readonly isOverpaid: boolean
  readonly isDisputed: boolean
}

/** Which open payments are let go of: all of an order that is being canceled; else, those that hold nothing and ask too much. */
export const toLetGo = <P extends PaymentState>(
  payments: readonly P[],
  { committed }: Pick<AccountState, 'committed'>,
  { due, isFrozen }: { due: number; isFrozen: boolean }
): P[] =>
  payments.filter(
    ({ isOpen, authorized, captured }) =>
      isOpen && (isFrozen || (committed > due && authorized === 0 && captured === 0))
  )

/** What became of all payments of one order, of which `due` is to be paid. */
export function reduceAccount(
  due: number,
  payments: readonly (PaymentState & { readonly amount: number })[]
): AccountState {
  const sum = (of: (payment: PaymentState & { readonly amount: number }) => number) =>
    payments.reduce((total, payment) => total + of(payment), 0)
  const sums: Sums = {
    authorized: sum(({ authorized }) => authorized),
    captured: sum(({ captured }) => captured),
    refunded: sum(({ refunded }) => refunded),
    refunding: sum(({ refunding }) => refunding),
    disputed: sum(({ disputed }) => disputed)
  }
  return {
    ...sums,
    committed: sum(payment => (payment.isOpen ? payment.amount : payment.captured)),
    status: accountStatusOf(due, { ...sums, refunded: sum(returnedOf) }),
    isOverpaid: sums.captured - sums.refunded > due,
    isDisputed: sums.disputed > 0
  }
}

/** A refund may be told of before what it is of. */
export const returnedOf = ({ captured, refunded }: Pick<Sums, 'captured' | 'refunded'>): number =>
  Math.min(captured, refunded)

function accountStatusOf(due: number, { captured, refunded, authorized }: Sums): AccountStatus {
  // What was paid too much may go back, and the rest is still paid.
  const returned = refunded - Math.max(0, captured - due)
  if (refunded > 0 && refunded >= captured) return 'refunded'
  if (refunded > 0 && returned > 0) return 'partially_refunded'
  if (captured >= due) return 'paid'
  if (captured > 0) return 'partially_paid'
  return authorized >= due ? 'authorized' : 'unpaid'
}
