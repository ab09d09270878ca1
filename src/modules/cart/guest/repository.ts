import type { Queryable, Transaction } from '../../../platform/postgres.ts'
import { slowStatement, statement } from '../../../platform/statement.ts'

const findGuestCart = statement(
  'cart.find_guest_cart',
  { cart_id: 'uuid' },
  `select g.cart_id from cart.guest_carts g join cart.carts c on c.customer_id = g.cart_id
   where g.token_hash = $1 and g.merged_into is null and c.expires_at > now()`
)
// Locks the token, not the cart: a change of the guest's cart and its merge exclude each other here.
const lockGuestCart = statement(
  'cart.lock_guest_cart',
  { cart_id: 'uuid', merged_into: 'uuid?', expired: 'bool' },
  `select g.cart_id, g.merged_into, c.customer_id is null or c.expires_at <= now() as expired
   from cart.guest_carts g left join cart.carts c on c.customer_id = g.cart_id
   where g.token_hash = $1 for update of g`
)
const insertGuestCart = statement(
  'cart.insert_guest_cart',
  {},
  'insert into cart.guest_carts (token_hash, cart_id) values ($1, $2)'
)
const markMerged = statement(
  'cart.mark_guest_cart_merged',
  {},
  'update cart.guest_carts set merged_into = $2, merged_at = now() where token_hash = $1'
)
const deleteCart = statement('cart.delete_guest_cart', {}, 'delete from cart.carts where customer_id = $1')
// Guests whose cart expired, and merges that nobody will repeat any more. The cart is locked too, so that one whose
// guest came back in the same instant is looked at again, and stays.
const deleteExpiredGuestCarts = slowStatement(
  'cart.delete_expired_guest_carts',
  { cart_id: 'uuid' },
  `with expired as (
     select g.token_hash, g.cart_id from cart.guest_carts g join cart.carts c on c.customer_id = g.cart_id
     where g.merged_at is null and c.expires_at <= now() limit 500 for update skip locked
   ), forgotten as (
     select token_hash from cart.guest_carts where merged_at <= now() - make_interval(days => $1)
     limit 500 for update skip locked
   ), carts as (
     delete from cart.carts where customer_id in (select cart_id from expired)
   )
   delete from cart.guest_carts
   where token_hash in (select token_hash from expired union all select token_hash from forgotten)
   returning cart_id`
)

export const find = async (db: Queryable, tokenHash: Buffer): Promise<string | undefined> =>
  (await db.query(findGuestCart, [tokenHash]))[0]?.cart_id

export type LockedGuestCart = { cartId: string; mergedInto: string | null; expired: boolean }

/** Locks the token until the end of the transaction. */
export async function lock(tx: Transaction, tokenHash: Buffer): Promise<LockedGuestCart | undefined> {
  const [row] = await tx.query(lockGuestCart, [tokenHash])
  return row && { cartId: row.cart_id, mergedInto: row.merged_into, expired: row.expired }
}

export async function insert(tx: Transaction, tokenHash: Buffer, cartId: string): Promise<void> {
  await tx.query(insertGuestCart, [tokenHash, cartId])
}

/** The token is spent and its cart deleted. */
export async function consume(
  tx: Transaction,
  guest: { tokenHash: Buffer; cartId: string },
  customerId: string
): Promise<void> {
  await tx.query(markMerged, [guest.tokenHash, customerId])
  await tx.query(deleteCart, [guest.cartId])
}

export const deleteExpired = async (db: Queryable, keepMergedDays: number): Promise<number> =>
  (await db.query(deleteExpiredGuestCarts, [keepMergedDays])).length
