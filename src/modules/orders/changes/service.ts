import { isDeepStrictEqual } from 'node:util'
import { found } from '../../../kernel/errors.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentsApi, Refunder } from '../../payments/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { actionRefused, notCancelable, orderNotFound } from '../errors.ts'
import {
  type ActionName,
  type CustomerCancel,
  type Life,
  type Role,
  refusalOf,
  stateAfter
} from '../life/actions.ts'
import { type LineCounters, left } from '../life/counters.ts'
import { fulfillmentOf, type OrderState } from '../life/status.ts'
import type { UnpaidStock } from '../unpaid-stock/service.ts'
import * as repository from './repository.ts'

/** Who does something to an order, and why. */
export type Doer = {
  readonly role: Role
  /** Null: a guest, or the shop itself. */
  readonly actor: string | null
  readonly reason: string | null
  /** Whose refunds have limits: an administrator, or an API key. */
  readonly refunder?: Refunder
}
export const SYSTEM: Doer = { role: 'system', actor: null, reason: null }

type OrderLine = LineCounters & { readonly group: string; readonly variantId: string }
/** An order that nobody else changes until the transaction ends. */
export type Hand = {
  readonly order: repository.LockedOrder
  readonly lines: readonly OrderLine[]
  readonly life: Life
}
type Next = {
  readonly lines?: readonly LineCounters[]
  readonly cancelRequestedBy?: Role | null
  readonly isHeld?: boolean
}

type Deps = {
  payments: Pick<PaymentsApi, 'lock'> | undefined
  shipping: Pick<ShippingApi, 'remain'> | undefined
  unpaidStock: Pick<UnpaidStock, 'sync'>
  policy: CustomerCancel
}

/** How whatever changes an order does so: take it, judge, and write down what was done, in one transaction. */
export function createChanges({ payments, shipping, unpaidStock, policy }: Deps) {
  /** Locks the account of its payments first, as everywhere. @throws `ORDER_NOT_FOUND` */
  async function take(tx: Transaction, id: string): Promise<Hand> {
    await payments?.lock(tx, id)
    const order = found(await tx.first(repository.lockOrder, { id }), orderNotFound)
    const lines = await tx.rows(repository.listLines, { order_id: id })
    return handOf(
      order,
      lines.map(
        ({ group_key: group, variant_id: variantId, requires_shipping: requiresShipping, ...line }) => ({
          ...line,
          group,
          variantId,
          requiresShipping
        })
      )
    )
  }

  /** @throws `ORDER_NOT_CANCELABLE`, `ORDER_ACTION_REFUSED`, each with the reason */
  function judge({ life }: Hand, action: ActionName, { role }: Doer): void {
    const reason = refusalOf(action, life, role, policy)
    if (reason === undefined) return
    throw action === 'cancel'
      ? notCancelable({ details: { reason } })
      : actionRefused({ details: { action, reason } })
  }

  /** What was done becomes the state of the order, and a row of its history. */
  async function write(
    tx: Transaction,
    { order, lines: before, life }: Hand,
    action: ActionName,
    { actor, reason }: Doer,
    next: Next = {}
  ): Promise<Hand> {
    const { id, state: from_state } = order
    const state = stateAfter(action, from_state)
    const { cancelRequestedBy = order.cancel_requested_by, isHeld = life.isHeld } = next
    const lines = before.map((line, index) => ({ ...line, ...next.lines?.[index] }))
    const changed = { state, cancel_requested_by: cancelRequestedBy }
    if (next.lines !== undefined)
      await tx.run(repository.updateCounters, { order_id: id, ...columnsOf(lines) })
    await tx.run(repository.updateState, {
      ...{ id, ...changed, is_held: isHeld },
      fulfillment_status: fulfillmentOf(lines)
    })
    await unpaidStock.sync(tx, order)
    const [waited, waits] = [toSend(before, from_state), toSend(lines, state)]
    if (!isDeepStrictEqual(waited, waits)) await shipping?.remain(tx, id, waits)
    await tx.run(repository.insertHistory, {
      order_id: id,
      action,
      from_state,
      to_state: state,
      actor,
      reason
    })
    return handOf({ ...order, ...changed, held_at: isHeld ? (order.held_at ?? new Date()) : null }, lines)
  }

  return { take, judge, write }
}
export type Changes = ReturnType<typeof createChanges>

const handOf = (order: repository.LockedOrder, lines: readonly OrderLine[]): Hand => ({
  order,
  lines,
  life: {
    state: order.state,
    paymentStatus: order.payment_status,
    lines,
    isCancelRequested: order.cancel_requested_by !== null,
    isHeld: order.held_at !== null,
    isErased: order.erased_at !== null
  }
})

/** What of an order is still to be carried to somebody, by group. */
function toSend(lines: readonly OrderLine[], state: OrderState) {
  const open = lines.filter(line => line.requiresShipping && state !== 'canceled' && left.fulfil(line) > 0)
  return [...Map.groupBy(open, ({ group }) => group)].map(([key, of]) => ({
    key,
    lines: of.map(line => ({ line: line.line, quantity: left.fulfil(line) }))
  }))
}

const columnsOf = (lines: readonly LineCounters[]) => ({
  lines: lines.map(({ line }) => line),
  canceled: lines.map(({ canceled }) => canceled),
  fulfilled: lines.map(({ fulfilled }) => fulfilled),
  returned: lines.map(({ returned }) => returned),
  refunded: lines.map(({ refunded }) => refunded)
})
