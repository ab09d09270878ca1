import type { EventSubject } from '../../../kernel/events.ts'
import type { Metadata } from '../../../kernel/metadata.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { StatementArguments, StatementValueTypes } from '../../../platform/postgres/statement.ts'
import { createTransactionValue } from '../../../platform/postgres/transaction-value.ts'
import type { LockedOrderPaymentAccount } from '../../payments/index.ts'
import type { OrderLifecycleFacts } from './actions.ts'
import type { OrderLineCounters } from './counters.ts'
import type { LockedOrderRow, LockedOrderUpdate } from './repository.ts'

type OrderLine = OrderLineCounters & {
  readonly group: string
  readonly variantId: string
  /** Null: none. */
  readonly metadata: Metadata | null
}
/**
 * An order whose row is locked until the transaction ends, with its payment account, which is locked before it. It does not
 * change: each update returns the next one, and an update of an earlier one throws.
 */
export type OrderUnderLock = {
  /** `undefined`: payments are disabled, or were when the order was created. */
  readonly account: LockedOrderPaymentAccount | undefined
  readonly order: LockedOrderRow
  readonly lines: readonly OrderLine[]
  readonly lifecycle: OrderLifecycleFacts
}

/** The newest state of each order that a transaction has locked. */
const newestLockedOrders = createTransactionValue(() => new Map<string, OrderUnderLock>())

/** Returns the current version of an order that the transaction has locked. Undefined: the transaction has not locked it. */
export const versionOfLockedOrder = (tx: Transaction, id: string): number | undefined =>
  newestLockedOrders(tx).get(id)?.order.version

/** Returns an order that the transaction has locked, as the subject of an event. Its version is the one that is committed. */
export function eventSubjectOfLockedOrder(tx: Transaction, id: string): EventSubject<true> {
  if (versionOfLockedOrder(tx, id) === undefined) throw new Error(`order ${id} is not locked`)
  return { id, version: () => versionOfLockedOrder(tx, id) ?? null }
}

/** Returns the order under lock with these rows, which is the newest from now on. */
export function registerLockedOrder(
  tx: Transaction,
  { account, order, lines }: Pick<OrderUnderLock, 'account' | 'order' | 'lines'>
): OrderUnderLock {
  const { state, payment_status: paymentStatus, cancel_requested_by, held_at, erased_at } = order
  const locked: OrderUnderLock = {
    account,
    order,
    lines,
    lifecycle: {
      state,
      paymentStatus,
      lines,
      isCancelRequested: cancel_requested_by !== null,
      isHeld: held_at !== null,
      isErased: erased_at !== null
    }
  }
  newestLockedOrders(tx).set(order.id, locked)
  return locked
}

/**
 * Runs an update of a locked order, and returns the order with its new columns. An update that changes no row returns the
 * order as it is. @throws Error when the order was changed since `locked`, because its columns would be outdated.
 */
export async function updateLockedOrder<T extends StatementValueTypes>(
  tx: Transaction,
  locked: OrderUnderLock,
  { statement }: LockedOrderUpdate<T>,
  values: Omit<NonNullable<StatementArguments<T>[0]>, 'id'>
): Promise<OrderUnderLock> {
  const { id } = locked.order
  if (newestLockedOrders(tx).get(id) !== locked)
    throw new Error(`${statement.name} got an order as it was before another change of the transaction`)
  const given = [{ id, ...values }] as unknown as StatementArguments<T & { readonly id: 'uuid' }>
  const order = await tx.first(statement, ...given)
  return order === undefined ? locked : registerLockedOrder(tx, { ...locked, order })
}
