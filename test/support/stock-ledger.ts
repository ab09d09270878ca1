import type pg from 'pg'

/** Finds every inconsistency of the stock ledger, one row per place. */
export const STOCK_FAULTS = `
  with chain as (
    select movements.*, lag(on_hand_after, 1, 0) over levels as on_hand_before,
      lag(reserved_after, 1, 0) over levels as reserved_before, lag(seq, 1, 0) over levels as seq_before
    from inventory.movements window levels as (partition by item_id, location_id order by seq)
  ), latest as (
    select distinct on (item_id, location_id) * from inventory.movements
    order by item_id, location_id, seq desc
  ), open as (
    select item_id, location_id, sum(quantity - fulfilled) as quantity from inventory.reservations
    where state <> 'closed' group by item_id, location_id
  )
  select 'a movement does not follow from the one before it' as fault, item_id, location_id, seq from chain
  where (seq <> seq_before + 1 and (kind <> 'balance' or seq_before > 0)) or on_hand_after <> on_hand_before + on_hand_delta
    or reserved_after <> reserved_before + reserved_delta
  union all
  select 'a level is not what its movements say', levels.item_id, levels.location_id, levels.seq
  from inventory.levels left join latest using (item_id, location_id)
  where (levels.seq, levels.on_hand, levels.reserved)
    <> (coalesce(latest.seq, 0), coalesce(latest.on_hand_after, 0), coalesce(latest.reserved_after, 0))
  union all
  select 'a level is not what is reserved', levels.item_id, levels.location_id, levels.seq
  from inventory.levels left join open using (item_id, location_id)
  where levels.reserved <> coalesce(open.quantity, 0)
  union all
  select 'a reservation has no level', open.item_id, open.location_id, 0
  from open left join inventory.levels using (item_id, location_id) where levels.item_id is null
  union all
  select 'more is promised than may be', item_id, location_id, seq from inventory.movements
  where kind = 'reserve' and reserved_after > allowed_after`

/** Returns the discrepancies of the ledger. No process may write to the database meanwhile. */
export async function faultsOf(client: pg.Client): Promise<Record<string, unknown>[]> {
  return (await client.query(STOCK_FAULTS)).rows
}

/** Deletes the items, stock and reservations of earlier tests of a shared database, for a test that checks or sums all of them. */
export async function emptyStockLedger(sql: (text: string) => Promise<unknown>): Promise<void> {
  await sql(`
    delete from inventory.findings; delete from inventory.changes; delete from inventory.requests;
    delete from inventory.contested; delete from inventory.reservations; delete from inventory.movements;
    delete from inventory.levels; delete from inventory.components; delete from inventory.items`)
}

/** Creates tracked items and returns their ids and the location. */
export async function makeItems(
  client: pg.Client,
  items: number
): Promise<{ itemIds: string[]; locationId: string }> {
  const { rows } = await client.query<{ id: string }>(
    `insert into inventory.items (id, tracked) select gen_random_uuid(), true from generate_series(1, $1)
     returning id`,
    [items]
  )
  const { rows: locations } = await client.query<{ id: string }>(
    'select id from inventory.locations order by priority limit 1'
  )
  return { itemIds: rows.map(({ id }) => id), locationId: (locations[0] as { id: string }).id }
}

/** Returns the reserved units of an item by reservation state. */
export async function reservedOf(client: pg.Client, itemId: string): Promise<Record<string, number>> {
  const { rows } = await client.query<{ state: string; quantity: string }>(
    `select state, sum(quantity - fulfilled) as quantity from inventory.reservations
     where item_id = $1 group by state`,
    [itemId]
  )
  return Object.fromEntries(rows.map(({ state, quantity }) => [state, Number(quantity)]))
}
