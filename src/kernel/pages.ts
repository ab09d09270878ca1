import { defineError } from './errors.ts'

/** What every list answers with: its rows, and where the next page starts (`null` on the last one). */
export type Page<T> = { items: T[]; next_cursor: string | null }

export const invalidCursor = defineError(
  'invalid',
  'INVALID_CURSOR',
  'The cursor is not one that this list gave out; start again without it.'
)

/**
 * A cursor is the sort key of the last row of a page, opaque to clients: keyset pages stay right while rows come
 * and go, and the thousandth page costs what the first one does.
 */
export function encodeCursor(key: readonly (string | number | null)[]): string {
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

/** Cuts the one row too many that was asked for to learn whether there is a next page. */
export function pageOf<R, T>(
  rows: R[],
  limit: number,
  key: (row: R) => readonly (string | number | null)[],
  present: (row: R) => T
): Page<T> {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  return {
    items: shown.map(present),
    next_cursor: rows.length > limit && last !== undefined ? encodeCursor(key(last)) : null
  }
}
