import { hash } from 'node:crypto'
import { defineError } from './errors.ts'
import { isId, LAST_ID } from './ids.ts'
import type { PageQuery } from './wire.ts'

/** What every list answers with: its rows, and where the next page starts (`null` on the last one). */
export type Page<T> = { items: T[]; next_cursor: string | null; total?: number; total_is_more?: boolean }

/** Largest `total` of a list. A list with more rows says `total_is_more`. */
export const COUNTED_MAX = 1_000

export const invalidCursor = defineError(
  'invalid',
  'INVALID_CURSOR',
  'The cursor is not one that this list gave out; start again without it.',
  { fault: { path: 'query/cursor', message: 'must be a next_cursor of this list' } }
)

/**
 * The place of a row in its list, under the names that the statement takes: what the list is sorted by, and last an
 * id, so that no two rows have the same place.
 */
type Place = Readonly<Record<string, string | number>>

type List<R, P extends Place> = {
  /** With the filters it tells lists apart: the cursor of one fits no other. */
  name: string
  filters?: unknown
  /** The place in front of the first row. */
  start: P
  /** The rows behind a place, in their order. */
  rows(page: P & { limit: number }): Promise<R[]>
  placeOf(row: NoInfer<R>): P
  /** How many rows there are; of more than `COUNTED_MAX`, any larger number. */
  total(): Promise<{ total: number } | undefined>
}

/** Behind every time that there is, in microseconds since 1970: a whole number that clients hand back as it is. */
export const LAST_MOMENT = Date.UTC(2200) * 1_000

/** The order of most lists: ids rise with time, and the statement takes the one that the page comes `after`. */
export const newestFirst = {
  start: { after: LAST_ID },
  placeOf: (row: { id: string }) => ({ after: row.id })
}

/**
 * A page of a list. The cursor is the place of its last row, opaque to clients: such pages stay right while rows come
 * and go, and the thousandth costs what the first one does. Its statements run one after another, so that a list
 * holds one connection. @throws `INVALID_CURSOR`
 */
export async function readPage<R, P extends Place>(
  { limit = 20, cursor, count = false }: PageQuery,
  { name, filters, start, placeOf, rows, total }: List<R, P>
): Promise<Page<R>> {
  const fingerprint = hash('sha256', JSON.stringify([name, filters]), 'base64url').slice(0, 10)
  const after = cursor === undefined ? start : readCursor(cursor, fingerprint, start)
  // One row too many tells whether there is a next page.
  const found = await rows({ ...after, limit: limit + 1 })
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const hasMore = found.length > limit && last !== undefined
  const next_cursor = hasMore ? encodeCursor([fingerprint, ...Object.values(placeOf(last))]) : null
  return { items, next_cursor, ...(count && reported(await total())) }
}

/** The page of a list in which nothing can be, whatever is stored. */
export const noPage = <T>({ count = false }: PageQuery): Page<T> => ({
  items: [],
  next_cursor: null,
  ...(count && { total: 0 })
})

const reported = (counted: { total: number } | undefined) =>
  counted !== undefined && counted.total > COUNTED_MAX ? { total: COUNTED_MAX, total_is_more: true } : counted

/** @throws `INVALID_CURSOR` unless the list with this fingerprint gave it out. */
function readCursor<P extends Place>(cursor: string, fingerprint: string, start: P): P {
  const names = Object.keys(start)
  const shape = Object.values(start).map(part => typeof part as 'string' | 'number')
  const [from, ...place] = decodeCursor(cursor, ['string', ...shape])
  const isOdd = Object.values(start).some(
    (first, index) => isId(String(first)) && !isId(String(place[index]))
  )
  if (from !== fingerprint || isOdd) throw invalidCursor()
  return Object.fromEntries(names.map((name, index) => [name, place[index]])) as P
}

export function encodeCursor(key: readonly (string | number)[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url')
}

/** @throws `INVALID_CURSOR` unless `cursor` is an array of exactly the shape of `shape` ('string' | 'number'). */
export function decodeCursor(cursor: string, shape: readonly ('string' | 'number')[]): (string | number)[] {
  let key: unknown
  try {
    key = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch (cause) {
    throw invalidCursor({ cause })
  }
  const fits =
    Array.isArray(key) &&
    key.length === shape.length &&
    key.every((part, index) => typeof part === shape[index] && isStorable(part))
  if (!fits) throw invalidCursor()
  return key as (string | number)[]
}

// PostgreSQL takes neither NUL nor lone surrogates as text, and a cursor is the one place where they could slip
// past the body parser.
const isStorable = (part: unknown) =>
  typeof part === 'number'
    ? Number.isSafeInteger(part)
    : String(part).isWellFormed() && !String(part).includes('\0')
