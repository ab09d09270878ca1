import { hash } from 'node:crypto'
import { decodeCursor, invalidCursor } from '../../../kernel/pages.ts'

/** Before every id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'
/** Behind every id: where lists start that show the newest first. */
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
export const isId = (text: string): boolean => UUID.test(text)

/** Stands in a cursor for the filters and the order of its list, so that it fits no other list. */
export const fingerprintOf = (query: unknown): string =>
  hash('sha256', JSON.stringify(query), 'base64url').slice(0, 10)

/**
 * The sort key and the id behind which a page starts. @throws `INVALID_CURSOR` unless the cursor came from a list
 * with this fingerprint.
 */
export function readCursor<K extends 'string' | 'number'>(cursor: string, fingerprint: string, keyType: K) {
  const [from, key, id] = decodeCursor(cursor, ['string', keyType, 'string'])
  const isKey = keyType === 'string' || Number.isSafeInteger(key)
  if (from !== fingerprint || !isKey || !isId(String(id))) throw invalidCursor()
  return { key: key as K extends 'string' ? string : number, id: String(id) }
}
