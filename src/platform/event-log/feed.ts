import { defineError } from '../../kernel/errors.ts'
import type { Database } from '../postgres/database.ts'
import { findEventLogPositionsAfter, findLoggedEventsByIds, type LoggedEventRow } from './queries.ts'

const cursorExpiredError = defineError(
  'gone',
  'EVENTS_CURSOR_EXPIRED',
  'The events after this position were deleted (events.retention_days), or the shop was restored from a backup. Empty the copy, read all objects again, then continue from "latest_position".'
)
const cursorAheadError = defineError(
  'invalid',
  'EVENTS_CURSOR_AHEAD',
  'The position in "after" is beyond the end of the log. If the shop was restored from a backup, empty the copy, read all objects again, then continue from "latest_position".'
)

/** An event of the log. Positions have no gaps. A restore moves them all. */
export type LoggedEvent = Omit<LoggedEventRow, 'id' | 'payload'> & {
  position: number
  payload: unknown
  /** The trace that caused the event, if it was recorded. */
  traceparent?: string
}
export type EventLogPage = { items: LoggedEvent[]; next_after: number; latest_position: number }
export type EventLogQuery = {
  /** Returns events after this position. Default: from the oldest that is kept. */
  readonly after?: number | undefined
  readonly limit: number
  /** Only events of these modules; null: of all. */
  readonly modules: readonly string[] | null
}

/** Positions that one page reads at most, so that a reader of few modules does not read the whole log in one request. */
const POSITIONS_PER_PAGE_MAX = 1_000

/**
 * Reads a page of the log, in the order of positions. Returns an empty page with the same cursor at the end.
 * @throws `EVENTS_CURSOR_EXPIRED`, `EVENTS_CURSOR_AHEAD`
 */
export async function readEventLogPage(
  db: Pick<Database, 'first' | 'rows'>,
  { after: given, limit, modules }: EventLogQuery
): Promise<EventLogPage> {
  const positions = modules === null ? limit : POSITIONS_PER_PAGE_MAX
  const from = given ?? (await db.first(findEventLogPositionsAfter, { after: 0, limit: 0 }))?.oldest ?? 1
  const after = given ?? from - 1
  const found = await db.first(findEventLogPositionsAfter, { after, limit: positions })
  if (found === undefined) throw cursorAheadError()
  const { oldest, next, ids, oldest_at: oldestAt, newest_at: newestAt } = found
  const latest_position = next - 1
  const details = { oldest_position: oldest, latest_position }
  if (after > latest_position) throw cursorAheadError({ details })
  if (after < oldest - 1) throw cursorExpiredError({ details })
  if (ids.length === 0 || oldestAt === null || newestAt === null)
    return { items: [], next_after: after, latest_position }
  const rows = new Map(
    (await db.rows(findLoggedEventsByIds, { ids, oldestAt, newestAt, modules })).map(row => [row.id, row])
  )
  // Their partition was dropped after the positions were read.
  if (rows.size < ids.length) throw cursorExpiredError({ details })
  const items = ids.flatMap((id, at): LoggedEvent[] => {
    const row = rows.get(id)
    if (row === undefined || row.payload === null) return []
    const { id: _, ...event } = row
    return [{ position: after + at + 1, ...event }]
  })
  const page = items.slice(0, limit)
  const isCut = page.length < items.length
  return {
    items: page,
    next_after: isCut ? (page.at(-1)?.position ?? after) : after + ids.length,
    latest_position
  }
}
