import { found } from '../../../kernel/errors.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { Attempts } from '../attempts/service.ts'
import { orderNotFound } from '../errors.ts'
import { type Fact, latest, ranked } from './fact.ts'
import { type Tell, tellNews } from './news.ts'
import { type AccountState, type PaymentState, reduceAccount, reducePayment, toLetGo } from './reducer.ts'
import * as repository from './repository.ts'

/** What somebody has learned of a payment. `shop`: nobody was asked, because nothing had been sent. */
type Told = {
  readonly orderId: string
  readonly paymentId: string
  readonly provider: string
  readonly facts: readonly Fact[]
  readonly source: 'answer' | 'poll' | 'callback' | 'shop'
}

/** What the payments of an order have become, for whoever looks after the order. */
export type PaymentChange = AccountState & {
  readonly orderId: string
  readonly due: number
  readonly before: AccountState['status']
  readonly isFrozen: boolean
  /** Nothing is asked of a provider, and nothing more can be taken: an order that is being canceled may be. */
  readonly isSettled: boolean
  /** How it may still be paid: the methods of payments that are open. */
  readonly openMethods: readonly string[]
}
/** Runs in the transaction that learned it, with the account locked. May run again for what it has seen already. */
export type PaymentListener = (tx: Transaction, change: PaymentChange) => Promise<void>

type Deps = {
  listener: () => PaymentListener | undefined
  /** Emits events about an order in its transaction. */
  teller: (tx: Transaction, orderId: string) => Tell
  /** Whether too many attempts of a network, or for an order, have failed. */
  isPaused: Attempts['isPaused']
  /** Has payments let go of, in the same transaction. */
  voidOpen: (
    tx: Transaction,
    payments: readonly { id: string; voids: number }[],
    reason: string
  ) => Promise<void>
}

/** After so many tries in vain an administrator has to look. */
const VOIDS_MAX = 3

/**
 * The one way in which anything becomes known of a payment, whoever said it: facts, then what they add up to, then
 * whoever listens, all in `tx`.
 */
export function createRecorder({ listener, teller, voidOpen, isPaused }: Deps) {
  /** Adds up anew what is known of an order. @throws `PAYMENT_ORDER_NOT_FOUND` */
  async function settle(tx: Transaction, orderId: string): Promise<PaymentChange> {
    const account = found(await tx.first(repository.lockAccount, { order_id: orderId }), orderNotFound)
    const known = await tx.rows(repository.listKnown, { order_id: orderId })
    const states = known.map(({ facts, open_refunds, ...payment }) => ({
      ...payment,
      before: payment.status,
      hasFailed: facts.some(({ kind, status }) => kind === 'attempt' && status === 'failed'),
      ...reducePayment(facts, open_refunds)
    }))
    await writePayments(tx, states)
    const state = reduceAccount(account.due, states)
    await tx.run(repository.updateAccount, { order_id: orderId, ...state })
    tellNews(teller(tx, orderId), account, account, state, states)
    const isFrozen = account.frozen_at !== null
    const mayVoid = ({ is_busy, voids }: { is_busy: boolean; voids: number }) => !is_busy && voids < VOIDS_MAX
    const toVoid = toLetGo(states, state, { due: account.due, isFrozen }).filter(mayVoid)
    const reason = isFrozen ? 'the order is canceled' : 'less is due than it asks for'
    if (toVoid.length > 0) await voidOpen(tx, toVoid, reason)
    // A browser that has the client secret of an open payment would go on trying cards with the provider.
    for (const tried of states.filter(each => each.isOpen && each.hasFailed && each.authorized === 0))
      if (mayVoid(tried) && !toVoid.includes(tried) && (await isPaused(tx, tried.network, orderId)))
        await voidOpen(tx, [tried], 'too many attempts failed')
    const change = {
      ...state,
      orderId,
      due: account.due,
      before: account.status,
      isFrozen,
      isSettled: states.every(({ is_busy, isOpen }) => !is_busy && !isOpen),
      openMethods: states.filter(({ isOpen }) => isOpen).map(({ method }) => method)
    }
    await listener()?.(tx, change)
    return change
  }

  return {
    settle,
    /** Facts alone; `settle` has to follow in the same transaction. */
    write: writeFacts
  }
}
export type Recorder = ReturnType<typeof createRecorder>

async function writeFacts(tx: Transaction, { paymentId, provider, facts, source }: Told): Promise<void> {
  const told = latest(facts.map(ranked))
  if (told.length === 0) return
  await tx.run(repository.upsertFacts, {
    provider,
    payment_id: paymentId,
    source,
    kinds: told.map(({ kind }) => kind),
    objectIds: told.map(({ objectId }) => objectId),
    ranks: told.map(({ rank }) => rank),
    statuses: told.map(({ status }) => status),
    amounts: told.map(({ amount }) => amount),
    currencies: told.map(({ currency }) => currency),
    ends: told.map(({ expiresAt }) => expiresAt ?? 0),
    operations: told.map(({ operationId }) => operationId ?? '')
  })
}

async function writePayments(
  tx: Transaction,
  states: readonly (PaymentState & { id: string })[]
): Promise<void> {
  if (states.length === 0) return
  await tx.run(repository.updatePayments, {
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
