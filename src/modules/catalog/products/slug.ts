import { slugNeeded } from '../errors.ts'
import { SLUG_LENGTH_MAX } from './fields.ts'

const SEARCH_TEXT_LENGTH_MAX = 600 // an entry of a B-tree index holds 2,700 bytes
/** Further products of one name get a part of their id instead of a number. */
const SAME_NAME_MAX = 100
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
export const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøđðþłħı]/g, letter => PLAIN[letter] ?? letter)

/**
 * A name as part of an address: `Crème Brûlée!` becomes `creme-brulee`. Only Latin letters lose their accents: in
 * other scripts a mark makes another letter, or is one. Empty when it has no letter or digit.
 */
export function slugOf(name: string): string {
  const letters = name.normalize('NFD').replace(/[\p{Script=Latin}\p{N}]\p{M}*/gu, fold)
  // What nobody sees (joiners, soft hyphens) is no part of an address.
  const visible = letters
    .toLowerCase()
    .normalize('NFC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
  const words = visible.match(/(?:\p{L}\p{M}*|\p{N})+/gu) ?? []
  return words
    .join('-')
    .slice(0, SLUG_LENGTH_MAX)
    .toWellFormed()
    .replace(/[-\ufffd]+$/, '')
}

/** As slugs are stored and looked up: an accent may be typed as a part of its letter or behind it (Unicode TR15). */
export const storedSlug = (slug: string): string => slug.normalize('NFC')

/** The slug of something new: the one that was asked for, or one of its name. @throws `CATALOG_SLUG_NEEDED` */
export function newSlug(name: string, given = slugOf(name)): string {
  if (given === '') throw slugNeeded()
  return storedSlug(given)
}

/** The slug of a name, and those of further products of the same name: `mug`, `mug-2`, `mug-3`. */
export const numberedSlugs = (slug: string): string[] =>
  Array.from({ length: SAME_NAME_MAX }, (_, index) =>
    index === 0 ? slug : withSuffix(slug, String(index + 1))
  )

/** The slug with a suffix, within the limit of its length. */
export const withSuffix = (slug: string, suffix: string): string =>
  `${slug
    .slice(0, SLUG_LENGTH_MAX - suffix.length - 1)
    .toWellFormed()
    .replace(/[-\ufffd]+$/, '')}-${suffix}`

/** What a product is found and sorted by. */
export const searchText = (name: string, brand: string | null): string =>
  fold(`${name}\n${brand ?? ''}`)
    .slice(0, SEARCH_TEXT_LENGTH_MAX)
    .toWellFormed()
