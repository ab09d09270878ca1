import { foldCaseAndAccents } from './slug.ts'

/** A trigram index can search inside words only with three letters or digits in a row. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u
const LEADING_SIGNS = /^[^\p{L}\p{N}]+/u
const WORD_BOUNDARIES = [' ', '\n', '-', '/', '.', '(', '\\_']

/**
 * Returns the `like` patterns that find `q` in names, brands and SKUs. A text with three letters or digits in
 * a row is found anywhere. A shorter one is found at the beginning of words only, because no index finds it
 * elsewhere. Returns no pattern when `q` has no letter or digit; nothing matches then.
 */
export function productSearchLikePatterns(q: string): string[] {
  const text = foldCaseAndAccents(q)
  if (TRIGRAM.test(text)) return [`%${escapeLike(text)}%`]
  const start = escapeLike(text.replace(LEADING_SIGNS, ''))
  if (start === '') return []
  return [`${start}%`, ...WORD_BOUNDARIES.map(boundary => `%${boundary}${start}%`)]
}

const escapeLike = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
