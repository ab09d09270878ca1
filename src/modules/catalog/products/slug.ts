import { SLUG_LENGTH_MAX } from '../schema.ts'

const SEARCH_TEXT_LENGTH_MAX = 600 // an entry of a B-tree index holds 2,700 bytes
// Letters that do not come apart into a plain one and an accent.
const PLAIN: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ł: 'l',
  ħ: 'h',
  ı: 'i'
}

/** The text without case and accents, for comparing what people type with what people wrote. */
function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøđðþłħı]/g, letter => PLAIN[letter] ?? letter)
}

/** A name as part of an address: `Crème Brûlée!` becomes `creme-brulee`. Empty when it has no letter or digit. */
export function slugOf(name: string): string {
  const slug = fold(name).replace(/[^\p{L}\p{N}]+/gu, '-')
  return slug.slice(0, SLUG_LENGTH_MAX).replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu, '')
}

/** What a product is found and sorted by. */
export const searchText = (name: string, brand: string | null): string =>
  fold(`${name}\n${brand ?? ''}`)
    .slice(0, SEARCH_TEXT_LENGTH_MAX)
    .toWellFormed()

/** What `like` matches when `q` is somewhere in a text. */
export const containing = (q: string | undefined): string =>
  q === undefined ? '%' : `%${fold(q).replace(/[\\%_]/g, '\\$&')}%`
