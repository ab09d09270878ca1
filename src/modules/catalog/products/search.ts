import { fold } from './slug.ts'

/** Trigram indexes find the middle of a word by three letters or digits in a row. */
const TRIGRAM = /[\p{L}\p{N}]{3}/u
const LEADING_SIGNS = /^[^\p{L}\p{N}]+/u
const WORD_BOUNDARIES = [' ', '\n', '-', '/', '.', '(', '\\_']

/**
 * The patterns of `like` by which `q` is found in names, brands and SKUs: anywhere when it has three letters or digits in a
 * row. A shorter text is looked for at the beginning of words, because no index finds it elsewhere. Empty when `q` has no
 * letter or digit: then it finds nothing.
 */
export function patternsOf(q: string): string[] {
  const text = fold(q)
  if (TRIGRAM.test(text)) return [`%${literal(text)}%`]
  const start = literal(text.replace(LEADING_SIGNS, ''))
  if (start === '') return []
  return [`${start}%`, ...WORD_BOUNDARIES.map(boundary => `%${boundary}${start}%`)]
}

const literal = (text: string): string => text.replace(/[\\%_]/g, '\\$&')
