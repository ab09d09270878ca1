import { json, nullableOneOf, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { CheckoutInput } from './input.ts'

const row = {
  id: 'uuid',
  customer_id: 'uuid?',
  status: oneOf<'open' | 'canceled'>(),
  is_expired: 'bool',
  version: 'int4',
  input: json<CheckoutInput>(),
  quote_hash: 'text',
  cart_id: 'uuid?',
  cart_version: 'int4?',
  order_id: 'uuid?',
  order_state: nullableOneOf<'pending' | 'placed' | 'completed'>(),
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  expires_at: 'timestamptz'
} as const
const ofOrder = (column: string) =>
  `(select ${column} from orders.orders where checkout_id = checkouts.id and state <> 'canceled')`
/** The stored input leaves these out. */
const EMPTY_FIELDS = {
  lines: [],
  market: null,
  email: null,
  shippingAddress: null,
  billingAddress: null,
  codes: [],
  note: null
}
/** The stored input as `CheckoutInput`. */
export const checkoutInputSql = `
  '${JSON.stringify(EMPTY_FIELDS)}'::jsonb || input || jsonb_build_object('shippingOption', shipping_option)`
const storedInputSql = `(
      select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each($input)
      where value not in ('null', '[]') and key <> 'shippingOption')`
const COMPUTED: Readonly<Record<string, string>> = {
  input: checkoutInputSql,
  quote_hash: `encode(quote_hash, 'hex')`,
  is_expired: 'expires_at <= now()',
  // Canceled orders are ignored, so the checkout of one is open again.
  order_id: ofOrder('id'),
  order_state: ofOrder('state')
}
const columns = Object.keys(row)
  .map(name => (name in COMPUTED ? `${COMPUTED[name]} as ${name}` : name))
  .join(', ')
/** Columns that each write of the client replaces. */
const written = {
  input: json<CheckoutInput>(),
  quote_hash: 'text',
  cart_id: 'uuid?',
  cart_version: 'int4?',
  seconds: 'float8'
} as const

export const insertCheckout = statement({
  name: 'orders.insert_checkout',
  takes: { id: 'uuid', customer_id: 'uuid?', ...written },
  gives: row,
  text: `
    insert into orders.checkouts
      (id, customer_id, status, input, shipping_option, quote_hash, cart_id, cart_version, expires_at)
    values ($id, $customer_id, 'open', ${storedInputSql}, $input->>'shippingOption', decode($quote_hash, 'hex'), $cart_id, $cart_version,
      now() + make_interval(secs => $seconds))
    returning ${columns}`
})
/** Finds a checkout of this customer, or of a guest (null). */
export const findCheckoutOfBuyer = statement({
  name: 'orders.find_checkout',
  takes: { id: 'uuid', customer_id: 'uuid?' },
  gives: row,
  text: `select ${columns} from orders.checkouts where id = $id and customer_id is not distinct from $customer_id`
})
/** Finds a checkout by id, without a check of its buyer. */
export const findCheckoutOfAnyBuyer = statement({
  name: 'orders.find_any_checkout',
  takes: { id: 'uuid' },
  gives: row,
  text: `select ${columns} from orders.checkouts where id = $id`
})
export const lockCheckoutRow = statement({
  name: 'orders.lock_checkout',
  takes: { id: 'uuid', customer_id: 'uuid?' },
  text: `
    select from orders.checkouts
    where id = $id and customer_id is not distinct from $customer_id for update`
})
/**
 * Raises the version of an open checkout that becomes an order in this transaction. Returns no row for another version. So a
 * statement that waits for this transaction finds another version afterwards, though it does not see the order.
 */
export const raiseVersionOfCompletedCheckout = statement({
  name: 'orders.complete_checkout',
  takes: { id: 'uuid', customer_id: 'uuid?', version: 'int4' },
  gives: { version: 'int4' },
  text: `
    update orders.checkouts set version = version + 1
    where id = $id and customer_id is not distinct from $customer_id and version = $version
      and status = 'open' and expires_at > now()
    returning version`
})
/** Updates an open checkout of this version. Returns no row for another one. */
export const updateOpenCheckout = statement({
  name: 'orders.update_checkout',
  takes: { id: 'uuid', customer_id: 'uuid?', version: 'int4', ...written },
  gives: row,
  text: `
    update orders.checkouts set
      input = ${storedInputSql}, shipping_option = $input->>'shippingOption', quote_hash = decode($quote_hash, 'hex'), cart_id = $cart_id, cart_version = $cart_version,
      version = version + 1, updated_at = now(), expires_at = now() + make_interval(secs => $seconds)
    where id = $id and customer_id is not distinct from $customer_id and version = $version
      and status = 'open' and expires_at > now()
      and not exists (select from orders.orders where checkout_id = $id and state <> 'canceled')
    returning ${columns}`
})
export const cancelCheckout = statement({
  name: 'orders.cancel_checkout',
  takes: { id: 'uuid' },
  gives: row,
  text: `
    update orders.checkouts set status = 'canceled', version = version + 1, updated_at = now()
    where id = $id
    returning ${columns}`
})
/**
 * Deletes checkouts that expired `keptSeconds` ago, canceled ones too. Keeps those whose order waits for its payment. Only reads
 * checkouts with an id before `before`, a lifetime before that: an index of the expiry would be written by each update.
 */
export const deleteExpiredCheckouts = statement({
  name: 'orders.delete_expired_checkouts',
  takes: { keptSeconds: 'float8', before: 'uuid' },
  text: `
    delete from orders.checkouts where id in (
      select id from orders.checkouts
      where id < $before
        and expires_at <= now() - make_interval(secs => $keptSeconds)
        and not exists (select from orders.orders where checkout_id = checkouts.id and state = 'pending')
      limit 500 for update skip locked)`
})
export type CheckoutRow = RowOf<typeof findCheckoutOfBuyer>
