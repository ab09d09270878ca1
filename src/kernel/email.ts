import { domainToASCII, domainToUnicode } from 'node:url'

const LENGTH_MAX = 254 // RFC 5321, section 4.5.3.1.3, less the angle brackets
const ADDRESS = /^[^\s@<>,;:"()[\]\\\p{C}]{1,64}@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*$/u
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u

/** How addresses were compared before they were normalised; accounts from then are still found by it. */
export const foldEmail = (text: string): string => text.trim().toLowerCase()

/** One spelling for what looks alike: full-width letters, composed and decomposed ones, capitals, `xn--` domains. */
export function normaliseEmail(text: string): string {
  const email = text.normalize('NFKC').trim().toLowerCase().normalize('NFKC')
  const local = email.slice(0, email.lastIndexOf('@') + 1)
  return local + normaliseDomain(email.slice(local.length))
}

/** In Unicode, by the rules that browsers follow (UTS 46); empty when it is none. */
export function normaliseDomain(domain: string): string {
  const folded = domain.toLowerCase()
  if (!/[^\u0000-\u007f]|xn--/.test(folded)) return folded
  const decoded = domainToUnicode(domainToASCII(folded))
  return decoded.includes('xn--') ? '' : decoded
}

/**
 * The address as it is stored, or `undefined` when it is none: whether it exists only a message to it can tell, so
 * only what could never be one, would break a mail header, or passes for somebody else's, is refused.
 */
export function parseEmail(text: string): string | undefined {
  const email = normaliseEmail(text)
  if (email.length > LENGTH_MAX || !ADDRESS.test(email) || INVISIBLE.test(email)) return undefined
  const domain = domainOf(email)
  const labels = domain.split('.')
  const parts = [email.slice(0, -domain.length - 1), ...labels]
  if (!parts.every(isOfOneScript)) return undefined
  // Whole words of letters that look Latin are at home where the domain is of their script.
  const isLatin = /^\p{ASCII}*$/u.test(labels.at(-1) as string)
  return isLatin && parts.some(part => LOOKS_LATIN.test(part)) ? undefined : email
}

export const domainOf = (email: string): string => email.slice(email.lastIndexOf('@') + 1)

// UTS 39, "Highly Restrictive": Latin with one of those that are written with it, or one script of UAX 31, table 5.
const SCRIPTS = [
  'Latin Han Hiragana Katakana',
  'Latin Han Bopomofo',
  'Latin Han Hangul',
  ...'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew'.split(
    ' '
  ),
  ...'Kannada Khmer Lao Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'.split(' ')
]

/** Each made when an address needs it: all of them take 17 ms (2026-11). */
const patterns = new Map<string, RegExp>()
function patternOf(scripts: string): RegExp {
  const known = patterns.get(scripts)
  if (known !== undefined) return known
  const letters = `${scripts} Common Inherited`.replace(/\w+/g, '\\p{Script=$&}').replaceAll(' ', '')
  const pattern = new RegExp(`^[${letters}]*$`, 'u')
  patterns.set(scripts, pattern)
  return pattern
}

const isOfOneScript = (part: string): boolean => SCRIPTS.some(scripts => patternOf(scripts).test(part))

// Cyrillic and Greek letters that are drawn like Latin ones (UTS 39, "whole-script confusables").
const LOOKS_LATIN = /^(?=.*\p{L})(?:[\p{N}\p{P}асԁеһіјӏорԛѕԝхуѵ]*|[\p{N}\p{P}αικνορτυωγ]*)$/u
