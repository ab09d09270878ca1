import { hash } from 'node:crypto'
import { defineError } from './errors.ts'
import { HIGHEST_ID, isId } from './ids.ts'
import type { PageQuery } from './wire.ts'

/**
 * The response of every list: its rows and the cursor of the next page (`null` on the last one).
 * @example
 * const empty: Page<{ id: string }> = { items: [], next_cursor: null }
 */
export type Page<T> = { items: T[]; next_cursor: string | null; total?: number; total_is_more?: boolean }

/** Largest `total` of a list. With more rows, `total_is_more` is true. */
export const LIST_TOTAL_MAX = 1_000

export const invalidCursorError = defineError(
  'invalid',
  'INVALID_CURSOR',
  'The cursor is not one that this list gave out; start again without it.',
  { fault: { path: 'query/cursor', message: 'must be a next_cursor of this list' } }
)

/**
 * The position of a row in its list: the sort columns and last an id, which makes it unique. Keys are the parameters of the
 * statement.
 */
type Place = Readonly<Record<string, string | number>>

type List<R, P extends Place> = {
  /** Identifies the list together with the filters: a cursor is valid only for the list that returned it. */
  name: string
  filters?: unknown
  /** The position before the first row. */
  start: P
  /** Returns the rows after a position, in order. */
  rows(page: P & { limit: number }): Promise<R[]>
  placeOf(row: NoInfer<R>): P
  /** Returns the number of rows of the list. Above `LIST_TOTAL_MAX`, any larger number will do. */
  total(): Promise<{ total: number } | undefined>
}

/** Sorts after every time: the year 2200 in microseconds since 1970, an integer that survives the cursor exactly. */
export const LATEST_MICROSECOND = Date.UTC(2200) * 1_000

/**
 * The order of most lists: by id, which rises with time, newest first. `after` is the id of the last row of the previous page.
 * @example
 * assert.deepEqual(newestFirst.placeOf({ id: variantId }), { after: variantId })
 */
export const newestFirst = {
  start: { after: HIGHEST_ID },
  placeOf: (row: { id: string }) => ({ after: row.id })
}

/**
 * Reads a page of a list by keyset pagination. The opaque cursor is the position of the last row. So pages stay correct while
 * rows change, and later pages cost no more than the first. Statements run one at a time, so that a list holds one
 * connection. @throws `INVALID_CURSOR`
 * @example
 * const wishes = [{ id: newId() }]
 * const list = { name: 'wishes', ...newestFirst, rows: async () => wishes, total: async () => ({ total: 1 }) }
 * const page = await readPage({ limit: 10, count: true }, list)
 * assert.deepEqual(page, { items: wishes, next_cursor: null, total: 1 })
 */
export async function readPage<R, P extends Place>(
  { limit = 20, cursor, count = false }: PageQuery,
  { name, filters, start, placeOf, rows, total }: List<R, P>
): Promise<Page<R>> {
  const fingerprint = hash('sha256', JSON.stringify([name, filters]), 'base64url').slice(0, 10)
  const after = cursor === undefined ? start : readCursor(cursor, fingerprint, start)
  // A page reads one row more than its limit, to find out whether there is a next page.
  const found = await rows({ ...after, limit: limit + 1 })
  const items = found.slice(0, limit)
  const last = items.at(-1)
  const hasMore = found.length > limit && last !== undefined
  const next_cursor = hasMore ? encodeCursor([fingerprint, ...Object.values(placeOf(last))]) : null
  return { items, next_cursor, ...(count && reported(await total())) }
}

const NEXT_CURSOR = '"next_cursor":"'

/**
 * Returns the `next_cursor` in the JSON text of a page, because some lists are cached as text. Strings in the JSON cannot
 * contain it: their quotes are escaped.
 */
export function nextCursorInJson(json: string): string | undefined {
  const start = json.lastIndexOf(NEXT_CURSOR)
  if (start < 0) return undefined
  const from = start + NEXT_CURSOR.length
  return json.slice(from, json.indexOf('"', from))
}

/** An empty page, for a list that cannot have rows. */
export const emptyPage = <T>({ count = false }: PageQuery): Page<T> => ({
  items: [],
  next_cursor: null,
  ...(count && { total: 0 })
})

const reported = (counted: { total: number } | undefined) =>
  counted !== undefined && counted.total > LIST_TOTAL_MAX
    ? { total: LIST_TOTAL_MAX, total_is_more: true }
    : counted

/** Decodes a cursor. @throws `INVALID_CURSOR` unless the list with this fingerprint returned it. */
function readCursor<P extends Place>(cursor: string, fingerprint: string, start: P): P {
  const names = Object.keys(start)
  const shape = Object.values(start).map(part => typeof part as 'string' | 'number')
  const [from, ...place] = decodeCursor(cursor, ['string', ...shape])
  const isOdd = Object.values(start).some(
    (first, index) => isId(String(first)) && !isId(String(place[index]))
  )
  if (from !== fingerprint || isOdd) throw invalidCursorError()
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
    throw invalidCursorError({ cause })
  }
  const fits =
    Array.isArray(key) &&
    key.length === shape.length &&
    key.every((part, index) => typeof part === shape[index] && isStorable(part))
  if (!fits) throw invalidCursorError()
  return key as (string | number)[]
}

// PostgreSQL rejects NUL and lone surrogates in text. A cursor could carry them past the body parser.
const isStorable = (part: unknown) =>
  typeof part === 'number'
    ? Number.isSafeInteger(part)
    : String(part).isWellFormed() && !String(part).includes('\0')
