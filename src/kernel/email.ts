import { domainToASCII, domainToUnicode } from 'node:url'

const LENGTH_MAX = 254 // RFC 5321, section 4.5.3.1.3, less the angle brackets
const ADDRESS = /^[^\s@<>,;:"()[\]\\\p{C}]{1,64}@[\p{L}\p{M}\p{N}-]+(?:\.[\p{L}\p{M}\p{N}-]+)*$/u
const INVISIBLE = /\p{Default_Ignorable_Code_Point}/u

/** Returns the key by which accounts that are older than `normalizeEmail` are stored and found. */
export const legacyEmailKey = (text: string): string => text.trim().toLowerCase()

/** Normalizes spellings that look alike: full-width letters, composed and decomposed ones, capitals, `xn--` domains. */
export function normalizeEmail(text: string): string {
  const email = text.normalize('NFKC').trim().toLowerCase().normalize('NFKC')
  const local = email.slice(0, email.lastIndexOf('@') + 1)
  return local + normalizeDomain(email.slice(local.length))
}

/** Returns a domain in Unicode, by the rules of browsers (UTS 46); '' when it is invalid. */
export function normalizeDomain(domain: string): string {
  const folded = domain.toLowerCase()
  if (!/[^\u0000-\u007f]|xn--/.test(folded)) return folded
  const decoded = domainToUnicode(domainToASCII(folded))
  return decoded.includes('xn--') ? '' : decoded
}

/**
 * Returns the address as it is stored, or `undefined` when it is invalid. Only a message can prove that an address exists. So
 * this rejects only impossible addresses, those that break a mail header, and those that imitate another address.
 */
export function parseEmail(text: string): string | undefined {
  const email = normalizeEmail(text)
  if (email.length > LENGTH_MAX || !ADDRESS.test(email) || INVISIBLE.test(email)) return undefined
  const domain = emailDomain(email)
  const labels = domain.split('.')
  const parts = [email.slice(0, -domain.length - 1), ...labels]
  if (!parts.every(isOfOneScript)) return undefined
  // A part of non-Latin letters that all look Latin is accepted only if the top-level domain is not Latin.
  const isLatin = /^\p{ASCII}*$/u.test(labels.at(-1) as string)
  return isLatin && parts.some(part => LOOKS_LATIN.test(part)) ? undefined : email
}

export const emailDomain = (email: string): string => email.slice(email.lastIndexOf('@') + 1)

// UTS 39, "Highly Restrictive": Latin with the scripts of one language, or one script of UAX 31, table 5.
const SCRIPTS = [
  'Latin Han Hiragana Katakana',
  'Latin Han Bopomofo',
  'Latin Han Hangul',
  ...'Arabic Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew'.split(
    ' '
  ),
  ...'Kannada Khmer Lao Malayalam Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan'.split(' ')
]

/** Patterns are compiled on demand, because all of them take 17 ms (2026-11). */
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
