import { decodeCursor, invalidCursor } from '../../../kernel/pages.ts'

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** The id behind which a page of a list sorted by id starts; `null` for the first page. @throws `INVALID_CURSOR`. */
export function idOfCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null
  const [id] = decodeCursor(cursor, ['string'])
  if (!ID.test(String(id))) throw invalidCursor()
  return String(id)
}
