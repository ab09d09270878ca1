import type pg from 'pg'

/**
 * Moves the positions of a restored log to the microseconds since 1970. No earlier log has such high positions, also after
 * several restores of one backup, because no shop emits a million events a second. So every older cursor has expired.
 */
export const MOVE_EVENT_POSITIONS_SQL = `update cartwright.event_batches set first_position = first_position + skipped
from (
  select greatest(extract(epoch from clock_timestamp()) * 1000000, max(first_position) + 1000000000)::bigint
    - min(first_position) as skipped
  from cartwright.event_batches
) log`
/** An empty log gets a batch without an event, which counts as dropped. */
const START_EMPTY_LOG_SQL = `
  insert into cartwright.event_batches (first_position, ids, last_id, skipped_ids)
  select (extract(epoch from clock_timestamp()) * 1000000)::bigint, '{0}', 0, '{}'
  where not exists (select from cartwright.event_batches)`

/** Expires all cursors of readers of the log, because the restored shop has lost changes that they may have applied. */
export async function expireEventCursors(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows } = await client.query(
    "select to_regclass('cartwright.event_batches') is not null as has_event_log"
  )
  // Backups of older versions have no log.
  if (!rows[0].has_event_log) return
  await client.query(MOVE_EVENT_POSITIONS_SQL)
  await client.query(START_EMPTY_LOG_SQL)
}
