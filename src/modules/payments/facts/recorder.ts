import { isDeepStrictEqual } from 'node:util'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentAttemptLimits } from '../attempt-limits/service.ts'
import { addRankToPaymentFact, latestPaymentFactOfEachObject, type PaymentFact } from './fact.ts'
import { type PublishPaymentEvent, publishPaymentEvents } from './publish.ts'
import {
  deriveOrderPaymentAccountState,
  derivePaymentState,
  type OrderPaymentAccountState,
  type PaymentState,
  selectPaymentsToVoid
} from './reducer.ts'
import * as repository from './repository.ts'

/** Facts of a payment and how they arrived. `shop`: the shop dropped an operation that it had not sent. */
type RecordedFacts = {
  readonly paymentId: string
  readonly provider: string
  readonly facts: readonly PaymentFact[]
  readonly source: 'answer' | 'poll' | 'callback' | 'shop'
}

/** The payment state of an order after facts were recorded. */
export type ChangedPaymentAccountState = OrderPaymentAccountState & {
  readonly orderId: string
  readonly due: number
  readonly previousStatus: OrderPaymentAccountState['status']
  readonly isFrozen: boolean
  /** The account and its payments are as they were stored. Operations may have changed. */
  readonly isUnchanged: boolean
  /** No operation is open and no payment can be captured any more, so a frozen order can be canceled. */
  readonly isSettled: boolean
  /** The methods of the open payments. */
  readonly openMethods: readonly string[]
}

type Deps = {
  /** Returns a function that emits events of an order in `tx`. */
  publisherOf: (tx: Transaction, orderId: string) => PublishPaymentEvent
  /** Whether too many attempts from a network, or for an order, failed. */
  isLimited: PaymentAttemptLimits['isLimited']
  /** Inserts void operations for payments in `tx`. */
  voidOpen: (
    tx: Transaction,
    payments: readonly { id: string; voids: number }[],
    reason: string
  ) => Promise<void>
}

/**
 * Maximum number of void operations per payment. When none of them closes the payment, an administrator has
 * to act.
 */
const VOIDS_MAX = 3

/**
 * The only writer of payment state. In one transaction it stores facts, derives the state of payments and account from them,
 * and publishes events.
 */
export function createPaymentFactRecorder({ publisherOf, voidOpen, isLimited }: Deps) {
  /** Derives the payment state of an order from its facts again. The caller holds the account's lock. */
  async function settle(
    tx: Transaction,
    account: repository.OrderPaymentAccountRow
  ): Promise<{ account: repository.OrderPaymentAccountRow; change: ChangedPaymentAccountState }> {
    const { order_id: orderId } = account
    const known = await tx.rows(repository.listPaymentsOfOrderWithFacts, { order_id: orderId })
    const states = known.map(({ facts, open_refunds, stored, ...payment }) => {
      const derived = derivePaymentState(facts, open_refunds)
      return {
        ...payment,
        before: stored.status,
        hasFailed: facts.some(({ kind, status }) => kind === 'attempt' && status === 'failed'),
        isStored: isDeepStrictEqual(derived, stored),
        ...derived
      }
    })
    const unstored = states.filter(({ isStored }) => !isStored)
    if (unstored.length > 0) await writePayments(tx, unstored)
    const state = deriveOrderPaymentAccountState(account.due, states)
    const isAccountStored = isDeepStrictEqual(state, storedAccountState(account))
    if (!isAccountStored) await tx.run(repository.updateOrderPaymentAccount, { order_id: orderId, ...state })
    publishPaymentEvents(publisherOf(tx, orderId), account, account, state, states)
    const isFrozen = account.frozen_at !== null
    const canVoid = ({ is_busy, voids }: { is_busy: boolean; voids: number }) => !is_busy && voids < VOIDS_MAX
    const toVoid = selectPaymentsToVoid(states, state, { due: account.due, isFrozen }).filter(canVoid)
    const reason = isFrozen ? 'the order is canceled' : 'the payment exceeds the amount due'
    if (toVoid.length > 0) await voidOpen(tx, toVoid, reason)
    // A browser with the client secret of an open payment could still try cards at the provider, without the shop.
    for (const tried of states.filter(each => each.isOpen && each.hasFailed && each.authorized === 0))
      if (canVoid(tried) && !toVoid.includes(tried) && (await isLimited(tx, tried.network, orderId)))
        await voidOpen(tx, [tried], 'too many attempts failed')
    const change = {
      ...state,
      orderId,
      due: account.due,
      previousStatus: account.status,
      isFrozen,
      isUnchanged: isAccountStored && unstored.length === 0,
      isSettled: states.every(({ is_busy, isOpen }) => !is_busy && !isOpen),
      openMethods: states.filter(({ isOpen }) => isOpen).map(({ method }) => method)
    }
    const { isOverpaid: is_overpaid, isDisputed: is_disputed, ...sums } = state
    return { account: { ...account, ...sums, is_overpaid, is_disputed }, change }
  }

  return {
    settle,
    /** Stores facts only. The caller must call `settle` in the same transaction. */
    recordFacts
  }
}
export type PaymentFactRecorder = ReturnType<typeof createPaymentFactRecorder>

async function recordFacts(
  tx: Transaction,
  { paymentId, provider, facts, source }: RecordedFacts
): Promise<void> {
  const latestReported = latestPaymentFactOfEachObject(facts.map(addRankToPaymentFact))
  if (latestReported.length === 0) return
  await tx.run(repository.upsertPaymentFactsFromProvider, {
    provider,
    payment_id: paymentId,
    source,
    kinds: latestReported.map(({ kind }) => kind),
    objectIds: latestReported.map(({ objectId }) => objectId),
    ranks: latestReported.map(({ rank }) => rank),
    statuses: latestReported.map(({ status }) => status),
    amounts: latestReported.map(({ amount }) => amount),
    currencies: latestReported.map(({ currency }) => currency),
    ends: latestReported.map(({ expiresAt }) => expiresAt ?? 0),
    operations: latestReported.map(({ operationId }) => operationId ?? '')
  })
}

const storedAccountState = ({
  is_overpaid: isOverpaid,
  is_disputed: isDisputed,
  ...account
}: repository.OrderPaymentAccountRow): OrderPaymentAccountState => {
  const { authorized, captured, refunded, refunding, disputed, committed, status } = account
  return {
    authorized,
    captured,
    refunded,
    refunding,
    disputed,
    committed,
    status,
    isOverpaid,
    isDisputed
  }
}

async function writePayments(
  tx: Transaction,
  states: readonly (PaymentState & { id: string })[]
): Promise<void> {
  await tx.run(repository.updatePaymentStates, {
    ids: states.map(({ id }) => id),
    statuses: states.map(({ status }) => status),
    open: states.map(({ isOpen }) => isOpen),
    authorized: states.map(({ authorized }) => authorized),
    captured: states.map(({ captured }) => captured),
    refunding: states.map(({ refunding }) => refunding),
    refunded: states.map(({ refunded }) => refunded),
    disputed: states.map(({ disputed }) => disputed),
    ends: states.map(({ authorizedUntil }) => authorizedUntil ?? 0)
  })
}
