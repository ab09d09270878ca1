import type { Queryable, Transaction } from '../../platform/postgres.ts'
import { slowStatement, statement } from '../../platform/statement.ts'
import type { Line } from './lines.ts'

/** A cart as it is stored, its lines in the order in which they were added. */
export type StoredCart = { version: number; updatedAt: Date | null; lines: Line[] }

// To expire is a change like any other: until somebody writes it down, the version reads one higher.
const findCartLines = statement(
  'cart.find_cart_lines',
  { version: 'int4', updated_at: 'timestamptz', variant_id: 'uuid?', quantity: 'int4?' },
  `select c.version + (c.expires_at <= now() and c.quantity > 0)::int as version, c.updated_at,
     i.variant_id, i.quantity
   from cart.carts c left join cart.items i on i.customer_id = c.customer_id and c.expires_at > now()
   where c.customer_id = $1
   order by i.added_at, i.variant_id`
)
const countItems = statement(
  'cart.count_items',
  { quantity: 'int4', distinct_count: 'int4' },
  'select quantity, distinct_count from cart.carts where customer_id = $1 and expires_at > now()'
)
// Makes the cart's row or locks the one that is there: in both cases nobody else changes this cart from here on.
const lockCart = statement(
  'cart.lock_cart',
  { version: 'int4', updated_at: 'timestamptz', expired: 'bool' },
  `insert into cart.carts as present (customer_id, expires_at) values ($1, now() + make_interval(days => $2))
   on conflict (customer_id) do update set
     version = present.version + (present.expires_at <= now() and present.quantity > 0)::int,
     quantity = case when present.expires_at > now() then present.quantity else 0 end,
     distinct_count = case when present.expires_at > now() then present.distinct_count else 0 end
   returning version, updated_at, expires_at <= now() as expired`
)
const listLines = statement(
  'cart.list_lines',
  { variant_id: 'uuid', quantity: 'int4' },
  'select variant_id, quantity from cart.items where customer_id = $1 order by added_at, variant_id'
)
const upsertLines = statement(
  'cart.upsert_lines',
  {},
  `insert into cart.items (customer_id, variant_id, quantity)
   select $1, variant_id, quantity from unnest($2::uuid[], $3::int[]) as line (variant_id, quantity)
   on conflict (customer_id, variant_id) do update set quantity = excluded.quantity`
)
const deleteLine = statement(
  'cart.delete_line',
  {},
  'delete from cart.items where customer_id = $1 and variant_id = $2'
)
const deleteLines = statement('cart.delete_lines', {}, 'delete from cart.items where customer_id = $1')
const updateCart = statement(
  'cart.update_cart',
  { version: 'int4', updated_at: 'timestamptz' },
  `update cart.carts set
     version = version + 1, updated_at = clock_timestamp(), expires_at = now() + make_interval(days => $2),
     quantity = (select coalesce(sum(quantity), 0) from cart.items where customer_id = $1),
     distinct_count = (select count(*) from cart.items where customer_id = $1)
   where customer_id = $1
   returning version, updated_at`
)
// A customer's row stays, so that versions never start again; what expired are its lines.
const emptyExpiredCarts = slowStatement(
  'cart.empty_expired_carts',
  { customer_id: 'uuid' },
  `with expired as (
     select customer_id from cart.carts where expires_at <= now() and quantity > 0
     order by customer_id limit 500 for update skip locked
   ), emptied as (
     delete from cart.items where customer_id in (select customer_id from expired)
   )
   update cart.carts set version = version + 1, quantity = 0, distinct_count = 0
   where customer_id in (select customer_id from expired)
   returning customer_id`
)

export async function findCart(db: Queryable, customerId: string): Promise<StoredCart> {
  const rows = await db.query(findCartLines, [customerId])
  const lines: Line[] = []
  for (const { variant_id, quantity } of rows) {
    if (variant_id !== null && quantity !== null) lines.push({ variantId: variant_id, quantity })
  }
  return { version: rows[0]?.version ?? 0, updatedAt: rows[0]?.updated_at ?? null, lines }
}

export async function count(
  db: Queryable,
  customerId: string
): Promise<{ count: number; distinct_count: number }> {
  const [cart] = await db.query(countItems, [customerId])
  return { count: cart?.quantity ?? 0, distinct_count: cart?.distinct_count ?? 0 }
}

/** Locks the cart until the end of the transaction, making it when there is none. An expired one is emptied. */
export async function lock(tx: Transaction, customerId: string, idleDays: number): Promise<StoredCart> {
  // Sent together: the lines are read when the lock is held, one round trip earlier.
  const [[cart], rows] = await Promise.all([
    tx.query(lockCart, [customerId, idleDays]),
    tx.query(listLines, [customerId])
  ])
  if (cart === undefined) throw new Error('a cart that was just locked is gone')
  const stored = { version: cart.version, updatedAt: cart.updated_at }
  if (cart.expired) {
    await tx.query(deleteLines, [customerId])
    return { ...stored, lines: [] }
  }
  return { ...stored, lines: rows.map(row => ({ variantId: row.variant_id, quantity: row.quantity })) }
}

export async function upsert(tx: Transaction, customerId: string, lines: readonly Line[]): Promise<void> {
  const variantIds = lines.map(line => line.variantId)
  const quantities = lines.map(line => line.quantity)
  await tx.query(upsertLines, [customerId, variantIds, quantities])
}

export async function deleteOne(tx: Transaction, customerId: string, variantId: string): Promise<void> {
  await tx.query(deleteLine, [customerId, variantId])
}

export async function deleteAll(tx: Transaction, customerId: string): Promise<void> {
  await tx.query(deleteLines, [customerId])
}

/** Counts the items anew, raises the version and puts the expiry off: the last statement of every change. */
export async function update(
  tx: Transaction,
  customerId: string,
  idleDays: number
): Promise<{ version: number; updatedAt: Date }> {
  const [cart] = await tx.query(updateCart, [customerId, idleDays])
  if (cart === undefined) throw new Error('a cart that was locked is gone')
  return { version: cart.version, updatedAt: cart.updated_at }
}

export const emptyExpired = async (db: Queryable): Promise<number> =>
  (await db.query(emptyExpiredCarts, [])).length
