import { slugRequiredError } from '../errors.ts'
import { SLUG_LENGTH_MAX } from './fields.ts'

const SEARCH_TEXT_LENGTH_MAX = 600 // an entry of a B-tree index holds 2,700 bytes
/**
 * Maximum number of products of one name with numbered slugs. Further ones get a part of their id as suffix.
 */
const SAME_NAME_MAX = 100
// Letters that Unicode does not decompose into a plain letter and an accent.
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

/** Removes case and accents from a text, so that search ignores them. */
export const foldCaseAndAccents = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[ßæœøđðþłħı]/g, letter => PLAIN[letter] ?? letter)

/**
 * Returns a name as part of a URL: `Crème Brûlée!` becomes `creme-brulee`. Only Latin letters lose their
 * accents, because in other scripts a mark changes the letter, or is one. Empty when the name has no letter
 * or digit.
 */
export function slugOfName(name: string): string {
  const letters = name.normalize('NFD').replace(/[\p{Script=Latin}\p{N}]\p{M}*/gu, foldCaseAndAccents)
  // Invisible characters (joiners, soft hyphens) are removed.
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

/**
 * Returns the composed form in which slugs are stored and looked up, because accents have two encodings
 * (Unicode TR15).
 */
export const normalizeSlug = (slug: string): string => slug.normalize('NFC')

/**
 * Returns the slug of a new product or category: `given`, or one made from the name. @throws
 * `CATALOG_SLUG_NEEDED`
 */
export function givenOrDerivedSlug(name: string, given = slugOfName(name)): string {
  if (given === '') throw slugRequiredError()
  return normalizeSlug(given)
}

/** Returns the slug, and the slugs of further products of the same name: `mug`, `mug-2`, `mug-3`. */
export const numberedProductSlugCandidates = (slug: string): string[] =>
  Array.from({ length: SAME_NAME_MAX }, (_, index) =>
    index === 0 ? slug : slugWithSuffix(slug, String(index + 1))
  )

/** Returns the slug with a suffix, cut to the maximum length. */
export const slugWithSuffix = (slug: string, suffix: string): string =>
  `${slug
    .slice(0, SLUG_LENGTH_MAX - suffix.length - 1)
    .toWellFormed()
    .replace(/[-\ufffd]+$/, '')}-${suffix}`

/** Returns the text by which a product is searched and sorted. */
export const productSearchText = (name: string, brand: string | null): string =>
  foldCaseAndAccents(`${name}\n${brand ?? ''}`)
    .slice(0, SEARCH_TEXT_LENGTH_MAX)
    .toWellFormed()
