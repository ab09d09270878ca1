import { defineError } from '../../kernel/errors.ts'
import { type Page, readPage } from '../../kernel/pages.ts'
import type { PageQuery } from '../../kernel/wire.ts'
import type { Queryable } from './queryable.ts'
import { statement } from './statement.ts'

/** A page of a list in the order of changes. `next_since`: where the next poll starts. */
export type ChangedRowsPage<T> = Page<T> & { next_since: Date }
type Tie = Readonly<Record<string, string | number>>

type ChangeList<R, T extends Tie> = {
  name: string
  /** The position before all rows that changed at the same time. */
  start: T
  /** Returns the rows after a position, ordered by `at`: the time of their change in microseconds since 1970. */
  rows(page: T & { at: number; limit: number }): Promise<R[]>
  placeOf(row: NoInfer<R>): T & { at: number }
  total(since: { since: Date }): Promise<{ total: number } | undefined>
}

const changesFilteredError = defineError(
  'invalid',
  'UPDATED_SINCE_FILTERED',
  '`updated_since` cannot be combined with filters; send it alone and filter the response.',
  { fault: { path: 'query/updated_since', message: 'must be the only filter' } }
)

/**
 * Distance that `next_since` keeps from the oldest open transaction. One second, because a server process takes the time of
 * its transaction shortly before others can see it. Another second, because a stock level that changes often stores the time
 * of a change that is up to a second older.
 */
const MARGIN_SECONDS = 2

// All sessions with an open transaction count, also those without a snapshot or a transaction id. They can still write, and
// `now()` is the start of their transaction. Autovacuum writes no rows. The reading session counts itself, so without other
// transactions this is the time of the reading. Null when `track_activities` is off.
const findOldestStart = statement({
  name: 'changes.find_oldest_start',
  takes: { margin: 'float8' },
  gives: { at: 'int8?' },
  text: `
    select (extract(epoch from min(xact_start) - make_interval(secs => $margin)) * 1000000)::int8 as at
    from pg_stat_activity
    where datname = current_database() and backend_type is distinct from 'autovacuum worker'`
})
/** A prepared transaction has no session, and PostgreSQL does not report its start. */
const existsPrepared = statement({
  name: 'changes.exists_prepared',
  gives: { found: 'bool' },
  text: 'select exists (select from pg_prepared_xacts where database = current_database()) as found'
})

/**
 * Returns the time in microseconds from which the next poll must read, so that it misses no change after `since`. Call it
 * before the rows are read: then each transaction either counts here, or its rows are visible, or it starts later.
 * Sessions before prepared transactions, because a transaction leaves the former after it has joined the latter.
 */
async function readNextSince(db: Queryable, since: number): Promise<number> {
  const oldest = await db.first(findOldestStart, { margin: MARGIN_SECONDS })
  const prepared = await db.first(existsPrepared)
  // Without a known start the next poll reads the same period again.
  return prepared?.found ? since : (oldest?.at ?? since)
}

/** Stands for `next` in the position before the first page. */
const UNREAD = 0

/**
 * Reads a page of the rows that changed since a time, the oldest change first. `updated_at` is the start of the writing
 * transaction, which can commit after younger ones. So `next_since` is earlier than the start of every transaction that was
 * open when the first page was read. The cursor carries it to later pages. Rows can repeat; none is missed.
 * @throws `INVALID_CURSOR`, `UPDATED_SINCE_FILTERED`
 */
export async function readChangedRowsPage<R, T extends Tie>(
  db: Queryable,
  { updated_since, limit, cursor, count, ...filters }: PageQuery & { updated_since: string },
  { name, start, rows, placeOf, total }: ChangeList<R, T>
): Promise<ChangedRowsPage<R>> {
  // A row that changed can cease to match a filter, and the client would not learn of it.
  if (Object.values(filters).some(value => value !== undefined)) throw changesFilteredError()
  const since = Math.max(0, Date.parse(updated_since)) * 1_000
  let next = UNREAD
  const query = {
    ...(limit !== undefined && { limit }),
    ...(cursor !== undefined && { cursor }),
    ...(count !== undefined && { count })
  }
  const page = await readPage(query, {
    name: `${name} by change`,
    filters: since,
    start: { ...start, at: since, next: UNREAD },
    rows: async ({ next: carried, ...place }: T & { at: number; next: number; limit: number }) => {
      next = carried === UNREAD ? await readNextSince(db, since) : carried
      return rows(place as unknown as T & { at: number; limit: number })
    },
    placeOf: row => ({ ...placeOf(row), next }),
    total: () => total({ since: new Date(since / 1_000) })
  })
  return { ...page, next_since: new Date(Math.floor(next / 1_000)) }
}
