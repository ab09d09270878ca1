import type { Queryable } from '../../../platform/postgres/database.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import type { ChangedCartLines } from './lines.ts'
import {
  type CartAfterLineChange,
  cartLineMetadataJson,
  cartVersionCountsAndExpirySql,
  cartVersionOf,
  countCartUnitsAndVariants
} from './repository.ts'

// Writes each cart completely or not at all. It never waits: carts that another transaction has locked or
// changed are skipped.
const saveUnchangedCarts = statement({
  name: 'cart.save_unchanged_carts',
  takes: {
    cartIds: 'uuid[]',
    versions: 'int4[]',
    quantities: 'int4[]',
    distinctCounts: 'int4[]',
    idleSeconds: 'float8[]',
    setCartIds: 'uuid[]',
    setIds: 'uuid[]',
    setVariantIds: 'uuid[]',
    setQuantities: 'int4[]',
    setMetadata: 'text[]',
    removedCartIds: 'uuid[]',
    removedIds: 'uuid[]'
  },
  gives: { cart_id: 'uuid', version: 'int4', updated_at: 'timestamptz' },
  text: `
    with changed as (
      select c.cart_id, change.quantity, change.distinct_count, change.idle_seconds
      from unnest($cartIds::uuid[], $versions::int[], $quantities::int[], $distinctCounts::int[], $idleSeconds::float8[])
        as change (cart_id, version, quantity, distinct_count, idle_seconds)
      join cart.carts c on c.cart_id = change.cart_id and c.version = change.version and c.expires_at > now()
      where c.cart_id = any ($cartIds)
      for update of c skip locked
    ), updated as (
      update cart.carts c set
      ${cartVersionCountsAndExpirySql}
      from changed where c.cart_id = any ($cartIds) and c.cart_id = changed.cart_id
      returning c.cart_id, c.version, c.updated_at
    ), upserted as (
      insert into cart.items (cart_id, id, variant_id, quantity, metadata)
      select line.cart_id, line.id, line.variant_id, line.quantity, nullif(line.metadata, '')::jsonb
      from unnest($setCartIds::uuid[], $setIds::uuid[], $setVariantIds::uuid[], $setQuantities::int[], $setMetadata::text[])
        as line (cart_id, id, variant_id, quantity, metadata)
      join updated on updated.cart_id = line.cart_id
      on conflict (cart_id, id) do update set quantity = excluded.quantity, metadata = excluded.metadata
    ), deleted as (
      delete from cart.items i
      using unnest($removedCartIds::uuid[], $removedIds::uuid[]) as gone (cart_id, id)
      join updated on updated.cart_id = gone.cart_id
      where i.cart_id = gone.cart_id and i.id = gone.id
    )
    select cart_id, version, updated_at from updated`
})

// Waits for a transaction that inserts the same cart, and then writes nothing. So it inserts one cart only: a statement that
// held other carts meanwhile could deadlock.
const insertFirstCart = statement({
  name: 'cart.insert_first_cart',
  takes: {
    cartId: 'uuid',
    quantity: 'int4',
    distinctCount: 'int4',
    idleSeconds: 'float8?',
    ids: 'uuid[]',
    variantIds: 'uuid[]',
    quantities: 'int4[]',
    metadata: 'text[]'
  },
  gives: { version: 'int4', updated_at: 'timestamptz' },
  text: `
    with inserted as (
      insert into cart.carts (cart_id, version, quantity, distinct_count, updated_at, expires_at)
      values ($cartId, 1, $quantity, $distinctCount, clock_timestamp(),
        coalesce(now() + make_interval(secs => $idleSeconds::float8 * 31 / 30), 'infinity'))
      on conflict (cart_id) do nothing
      returning cart_id, version, updated_at
    ), lines as (
      insert into cart.items (cart_id, id, variant_id, quantity, metadata)
      select cart_id, id, variant_id, line.quantity, nullif(line.metadata, '')::jsonb
      from inserted cross join unnest($ids::uuid[], $variantIds::uuid[], $quantities::int[], $metadata::text[])
        as line (id, variant_id, quantity, metadata)
    )
    select version, updated_at from inserted`
})

/** A change that was decided without a lock, for this version of a cart. */
export type OptimisticCartChange = {
  cartId: string
  version: number
  change: ChangedCartLines
  idleSeconds: number | null
}

/**
 * Writes changes of carts without a lock, at most one change per cart. Returns the carts in the order of
 * `changes`. Returns `undefined` for a cart that has changed since or that another transaction has locked,
 * and writes nothing of it.
 */
export async function saveCartsIfUnchanged(
  db: Queryable,
  changes: readonly OptimisticCartChange[]
): Promise<(CartAfterLineChange | undefined)[]> {
  const sums = changes.map(({ change }) => countCartUnitsAndVariants(change.lines))
  const set = changes.flatMap(({ cartId, change }) => change.set.map(line => ({ cartId, ...line })))
  const removed = changes.flatMap(({ cartId, change }) => change.removed.map(id => ({ cartId, id })))
  const rows = await db.rows(saveUnchangedCarts, {
    cartIds: changes.map(({ cartId }) => cartId),
    versions: changes.map(({ version }) => version),
    quantities: sums.map(({ quantity }) => quantity),
    distinctCounts: sums.map(({ distinctCount }) => distinctCount),
    idleSeconds: changes.map(({ idleSeconds }) => idleSeconds),
    setCartIds: set.map(({ cartId }) => cartId),
    setIds: set.map(({ id }) => id),
    setVariantIds: set.map(({ variantId }) => variantId),
    setQuantities: set.map(({ quantity }) => quantity),
    setMetadata: set.map(cartLineMetadataJson),
    removedCartIds: removed.map(({ cartId }) => cartId),
    removedIds: removed.map(({ id }) => id)
  })
  const updated = new Map(rows.map(row => [row.cart_id, row]))
  return changes.map(({ cartId, change }) => {
    const row = updated.get(cartId)
    return row && { ...cartVersionOf(row), lines: change.lines }
  })
}

/** Inserts the first cart of a customer. Returns `undefined`, and writes nothing, when the cart exists. */
export async function insertCartIfMissing(
  db: Queryable,
  { cartId, change: { lines }, idleSeconds }: Omit<OptimisticCartChange, 'version'>
): Promise<CartAfterLineChange | undefined> {
  const inserted = await db.first(insertFirstCart, {
    cartId,
    ...countCartUnitsAndVariants(lines),
    idleSeconds,
    ids: lines.map(({ id }) => id),
    variantIds: lines.map(({ variantId }) => variantId),
    quantities: lines.map(({ quantity }) => quantity),
    metadata: lines.map(cartLineMetadataJson)
  })
  return inserted && { ...cartVersionOf(inserted), lines }
}
