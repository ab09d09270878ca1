import {
  nullableOneOf,
  oneOf,
  type RowOf,
  type Statement,
  type StatementValueTypes,
  statement
} from '../../../platform/postgres/statement.ts'
import type { OrderActorRole } from './actions.ts'
import { lockedOrderLineColumns } from './line-columns.ts'
import type { FulfillmentStatus, OrderLifecycleState, OrderPaymentStatus } from './status.ts'
import type { PaymentTerms } from './terms.ts'

const lockedColumns = {
  id: 'uuid',
  number: 'text',
  state: oneOf<OrderLifecycleState>(),
  terms: oneOf<PaymentTerms>(),
  customer_id: 'uuid?',
  mailbox: 'text?',
  token_version: 'int4',
  cart_id: 'uuid?',
  currency: 'text',
  total: 'int8',
  tendered: 'int8',
  payment_status: nullableOneOf<OrderPaymentStatus>(),
  cancel_requested_by: nullableOneOf<OrderActorRole>(),
  held_at: 'timestamptz?',
  erased_at: 'timestamptz?',
  is_deferred: 'bool',
  is_buyer_verified: 'bool',
  canceled_for: nullableOneOf<'evicted' | 'short'>(),
  version: 'int4',
  has_expired: 'bool'
} as const
const lockedColumnsSql = `id, number, state, terms, customer_id, mailbox, token_version, cart_id, currency, total, tendered, payment_status,
      cancel_requested_by, held_at, erased_at, is_deferred, is_buyer_verified, canceled_for, version,
      coalesce(expires_at <= now(), false) as has_expired`

/**
 * Locks the order until `tx` ends. A transaction that also locks the payment account must lock the account
 * first.
 */
export const lockOrder = statement({
  name: 'orders.lock_order',
  takes: { id: 'uuid' },
  gives: lockedColumns,
  text: `
    select ${lockedColumnsSql}
    from orders.orders where id = $id for update`
})
export type LockedOrderRow = RowOf<typeof lockOrder>

/**
 * A statement that changes the columns of a locked order. Only `updateLockedOrder` runs it, so an order under lock always has
 * the columns of its row.
 */
export type LockedOrderUpdate<T extends StatementValueTypes> = {
  readonly statement: Statement<T & { readonly id: 'uuid' }, typeof lockedColumns>
}
/** Declares an update of a locked order, whose text ends with its condition. `$id` is the order. */
export const lockedOrderUpdate = <const T extends StatementValueTypes>({
  name,
  takes,
  text
}: {
  name: string
  takes: T
  text: string
}): LockedOrderUpdate<T> => ({
  statement: statement({
    name,
    takes: { id: 'uuid', ...takes },
    gives: lockedColumns,
    text: `${text}
    returning ${lockedColumnsSql}`
  })
})

/**
 * Lists the lines of an order. It is a separate statement after the lock, because a statement that waits for
 * a lock sees other rows as they were before.
 */
export const listOrderLines = statement({
  name: 'orders.list_lines',
  takes: { order_id: 'uuid' },
  gives: lockedOrderLineColumns,
  text: `
    select ${Object.keys(lockedOrderLineColumns).join(', ')}
    from orders.lines where order_id = $order_id order by line`
})

/** Null: the payment status stays. */
export const updateOrderState = lockedOrderUpdate({
  name: 'orders.update_state',
  takes: {
    state: oneOf<OrderLifecycleState>(),
    cancel_requested_by: nullableOneOf<OrderActorRole>(),
    is_held: 'bool',
    fulfillment_status: oneOf<FulfillmentStatus>(),
    terms: oneOf<PaymentTerms>(),
    payment_status: nullableOneOf<OrderPaymentStatus>(),
    is_overpaid: 'bool?',
    is_disputed: 'bool?'
  },
  text: `
    update orders.orders set state = $state, fulfillment_status = $fulfillment_status, terms = $terms,
      payment_status = coalesce($payment_status, payment_status),
      is_overpaid = coalesce($is_overpaid, is_overpaid), is_disputed = coalesce($is_disputed, is_disputed),
      cancel_requested_by = $cancel_requested_by::text,
      cancel_requested_at = case when $cancel_requested_by::text is null then null else coalesce(cancel_requested_at, now()) end,
      held_at = case when $is_held then coalesce(held_at, now()) end,
      placed_at = case when $state in ('placed', 'completed') then coalesce(placed_at, now()) else placed_at end,
      network = case when $state = 'pending' then network end,
      expires_at = case when $state = 'pending' then expires_at end,
      version = version + 1, updated_at = now(), progressed_at = now()
    where id = $id`
})
export const updateLineCounters = statement({
  name: 'orders.update_counters',
  takes: {
    order_id: 'uuid',
    lines: 'int4[]',
    canceled: 'int4[]',
    fulfilled: 'int4[]',
    returned: 'int4[]',
    refunded: 'int4[]'
  },
  text: `
    update orders.lines set canceled = new.canceled, fulfilled = new.fulfilled, returned = new.returned,
      refunded = new.refunded
    from unnest($lines::int4[], $canceled::int4[], $fulfilled::int4[], $returned::int4[], $refunded::int4[])
      as new (line, canceled, fulfilled, returned, refunded)
    where lines.order_id = $order_id and lines.line = new.line`
})
/**
 * Sets the expiry to the payment timeout after the creation of the order. If that time has passed, the
 * previous expiry stays.
 */
const expiry = `case
  when state = 'pending' and created_at + make_interval(secs => $paymentTimeoutSeconds) > now()
    then created_at + make_interval(secs => $paymentTimeoutSeconds)
  else expires_at end`
export const updateOrderPaymentStatus = lockedOrderUpdate({
  name: 'orders.update_payment',
  takes: {
    payment_status: oneOf<OrderPaymentStatus>(),
    is_overpaid: 'bool',
    is_disputed: 'bool',
    paymentTimeoutSeconds: 'float8'
  },
  text: `
    update orders.orders set payment_status = $payment_status, is_overpaid = $is_overpaid, is_disputed = $is_disputed,
      expires_at = ${expiry}, version = version + 1, updated_at = now(), progressed_at = now()
    where id = $id
      and (payment_status, is_overpaid, is_disputed, expires_at)
        is distinct from ($payment_status, $is_overpaid, $is_disputed, ${expiry})`
})
export const insertOrderHistory = statement({
  name: 'orders.insert_history',
  takes: {
    order_id: 'uuid',
    action: 'text',
    from_state: 'text?',
    to_state: 'text',
    actor: 'uuid?',
    reason: 'text?'
  },
  text: `
    insert into orders.history (order_id, action, from_state, to_state, actor, reason)
    values ($order_id, $action, $from_state, $to_state, $actor, $reason)`
})
