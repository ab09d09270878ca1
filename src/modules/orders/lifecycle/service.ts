import { isDeepStrictEqual } from 'node:util'
import { found } from '../../../kernel/errors.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { LockedOrderPaymentAccount, OrderPayments, Refunder } from '../../payments/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { orderActionRefusedError, orderNotCancelableError, orderNotFoundError } from '../errors.ts'
import {
  type CustomerCancellationPolicy,
  findOrderActionRefusalReason,
  type OrderActionName,
  type OrderActorRole,
  orderStateAfter
} from './actions.ts'
import { type OrderLineCounters, remainingOrderLineUnitsByAction } from './counters.ts'
import { type OrderUnderLock, registerLockedOrder, updateLockedOrder } from './locked-order.ts'
import * as repository from './repository.ts'
import { fulfillmentStatusOf, type OrderLifecycleState, type OrderPaymentStatus } from './status.ts'
import type { PaymentTerms } from './terms.ts'

/**
 * The user, guest or part of the shop that changes an order, and the reason that is stored with the change.
 */
export type OrderActor = {
  readonly role: OrderActorRole
  /** The id of the acting user. Null for a guest and for the shop itself. */
  readonly id: string | null
  readonly reason: string | null
  /** The API key, or the time of the administrator's login, on which the refund limits depend. Absent for all others. */
  readonly refunder?: Refunder
}
export const SYSTEM_ACTOR: OrderActor = { role: 'system', id: null, reason: null }

/** How much of an order is paid, as its columns say. */
export type OrderPaymentColumns = {
  readonly payment_status: OrderPaymentStatus
  readonly is_overpaid: boolean
  readonly is_disputed: boolean
}
const UNCHANGED_PAYMENT = { payment_status: null, is_overpaid: null, is_disputed: null } as const

type TransitionChanges = {
  readonly lines?: readonly OrderLineCounters[]
  readonly cancelRequestedBy?: OrderActorRole | null
  readonly isHeld?: boolean
  readonly terms?: PaymentTerms
  readonly payment?: OrderPaymentColumns | undefined
}

type Deps = {
  payments: Pick<OrderPayments, 'lockAccount'> | undefined
  shipping: Pick<ShippingApi, 'updateUnshipped'> | undefined
  /** Counts the unpaid stock of the changed order again. */
  unpaidStock: {
    sync(tx: Transaction, order: Pick<repository.LockedOrderRow, 'id' | 'is_deferred'>): Promise<void>
  }
  policy: CustomerCancellationPolicy
}

/**
 * The steps of every change of an order, in one transaction: lock it, assert that the action is allowed,
 * write the transition.
 */
export function createOrderTransitions({ payments, shipping, unpaidStock, policy }: Deps) {
  /**
   * Locks the order and, before it, the account of its payments: the lock order of all transactions. @throws
   * `ORDER_NOT_FOUND`
   */
  async function lock(tx: Transaction, id: string): Promise<OrderUnderLock> {
    const account = await payments?.lockAccount(tx, id)
    return found(await lockBehind(tx, account, id), orderNotFoundError)
  }

  /** Locks the order of an account that the transaction has locked. Returns `undefined` when the account has no order. */
  async function lockBehind(
    tx: Transaction,
    account: LockedOrderPaymentAccount | undefined,
    id: string
  ): Promise<OrderUnderLock | undefined> {
    const order = await tx.first(repository.lockOrder, { id })
    if (order === undefined) return undefined
    const lines = await tx.rows(repository.listOrderLines, { order_id: id })
    return registerLockedOrder(tx, {
      account,
      order,
      lines: lines.map(
        ({ group_key: group, variant_id: variantId, requires_shipping: requiresShipping, ...line }) => ({
          ...line,
          group,
          variantId,
          requiresShipping
        })
      )
    })
  }

  /** @throws `ORDER_NOT_CANCELABLE`, `ORDER_ACTION_REFUSED`, each with the reason */
  function assertAllowed({ lifecycle }: OrderUnderLock, action: OrderActionName, { role }: OrderActor): void {
    const reason = findOrderActionRefusalReason(action, lifecycle, role, policy)
    if (reason === undefined) return
    throw action === 'cancel'
      ? orderNotCancelableError({ details: { reason } })
      : orderActionRefusedError({ details: { action, reason } })
  }

  /**
   * Writes the state that follows from an action, and a row of the order's history. Returns the changed
   * order.
   */
  async function transition(
    tx: Transaction,
    locked: OrderUnderLock,
    action: OrderActionName,
    { id: actor, reason }: OrderActor,
    next: TransitionChanges = {}
  ): Promise<OrderUnderLock> {
    const { order, lines: before, lifecycle } = locked
    const { id, state: from_state } = order
    const state = orderStateAfter(action, from_state)
    const { cancelRequestedBy = order.cancel_requested_by, isHeld = lifecycle.isHeld } = next
    const lines = before.map((line, index) => ({ ...line, ...next.lines?.[index] }))
    if (next.lines !== undefined)
      await tx.run(repository.updateLineCounters, { order_id: id, ...columnsOf(lines) })
    const changed = await updateLockedOrder(tx, locked, repository.updateOrderState, {
      state,
      cancel_requested_by: cancelRequestedBy,
      is_held: isHeld,
      fulfillment_status: fulfillmentStatusOf(lines),
      terms: next.terms ?? order.terms,
      ...(next.payment ?? UNCHANGED_PAYMENT)
    })
    await unpaidStock.sync(tx, changed.order)
    const [toShipBefore, toShipAfter] = [unitsToShip(before, from_state), unitsToShip(lines, state)]
    if (!isDeepStrictEqual(toShipBefore, toShipAfter)) await shipping?.updateUnshipped(tx, id, toShipAfter)
    await tx.run(repository.insertOrderHistory, {
      order_id: id,
      action,
      from_state,
      to_state: state,
      actor,
      reason
    })
    return registerLockedOrder(tx, { ...changed, lines })
  }

  return { lock, lockBehind, assertAllowed, transition }
}
export type OrderTransitions = ReturnType<typeof createOrderTransitions>

/** The units that a carrier still has to deliver, by shipping group. */
function unitsToShip(lines: OrderUnderLock['lines'], state: OrderLifecycleState) {
  const open = lines.filter(
    line => line.requiresShipping && state !== 'canceled' && remainingOrderLineUnitsByAction.fulfil(line) > 0
  )
  return [...Map.groupBy(open, ({ group }) => group)].map(([key, of]) => ({
    key,
    lines: of.map(line => ({ line: line.line, quantity: remainingOrderLineUnitsByAction.fulfil(line) }))
  }))
}

const columnsOf = (lines: readonly OrderLineCounters[]) => ({
  lines: lines.map(({ line }) => line),
  canceled: lines.map(({ canceled }) => canceled),
  fulfilled: lines.map(({ fulfilled }) => fulfilled),
  returned: lines.map(({ returned }) => returned),
  refunded: lines.map(({ refunded }) => refunded)
})
