import { statement } from '../../../platform/postgres/statement.ts'

/**
 * Sums the oldest movements of a page of levels, at most `movements` of each: the last one before a time becomes the
 * balance, and those before it are deleted. Skips levels whose movements contradict each other, because the ledger check
 * reports these. Two processes that do this simultaneously sum each movement once, because both choose the balance among
 * the same rows.
 */
export const sumOldStockMovements = statement({
  name: 'inventory.sum_old_movements',
  takes: {
    afterItemId: 'uuid',
    afterLocationId: 'uuid',
    levels: 'int8',
    movements: 'int8',
    before: 'timestamptz'
  },
  gives: { deleted: 'int8', item_id: 'uuid?', location_id: 'uuid?' },
  text: `
    with page as materialized (
      select item_id, location_id, seq from inventory.levels
      where (item_id, location_id) > ($afterItemId, $afterLocationId)
      order by item_id, location_id limit $levels
    ), summed as materialized (
      select page.item_id, page.location_id, old.last_seq
      from page
        -- Most levels have no two old movements, and read no more than the two oldest.
        join lateral (
          select count(*) filter (where at < $before) as old from (
            select at from inventory.movements
            where movements.item_id = page.item_id and movements.location_id = page.location_id order by seq limit 2
          ) first_two
        ) oldest on oldest.old = 2
        join lateral (
          select min(seq) as first_seq, max(seq) as last_seq, count(*) as amount, bool_or(kind = 'balance') as has_balance,
            sum(on_hand_delta) as on_hand, sum(reserved_delta) as reserved
          from (
            select seq, kind, at, on_hand_delta, reserved_delta from inventory.movements
            where movements.item_id = page.item_id and movements.location_id = page.location_id
            order by seq limit $movements
          ) first_rows
          where at < $before
        ) old on (old.first_seq = 1 or old.has_balance) and old.amount = old.last_seq - old.first_seq + 1
          and old.last_seq <= page.seq
        join inventory.movements last on last.item_id = page.item_id and last.location_id = page.location_id
          and last.seq = old.last_seq and last.on_hand_after = old.on_hand and last.reserved_after = old.reserved
    ), deleted as (
      delete from inventory.movements using summed
      where movements.item_id = summed.item_id and movements.location_id = summed.location_id
        and movements.seq < summed.last_seq
      returning movements.seq
    ), balanced as (
      update inventory.movements set kind = 'balance', on_hand_delta = on_hand_after, reserved_delta = reserved_after,
        allowed_after = null, owner = null, actor = null, reason = null, reference = null
      from summed
      where movements.item_id = summed.item_id and movements.location_id = summed.location_id
        and movements.seq = summed.last_seq
    )
    select (select count(*) from deleted) as deleted, last_level.item_id, last_level.location_id
    from (values (true)) as always
      left join (
        select item_id, location_id from page order by item_id desc, location_id desc limit 1
      ) as last_level on true`
})
