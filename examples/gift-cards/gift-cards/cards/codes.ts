import { randomBytes } from 'node:crypto'
import type { Platform } from 'cartwright'

/** Crockford's base 32: no letter that looks like a digit. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 16
const HASH_PURPOSE = 'gift_cards.code'

/** Draws a code of 80 random bits, such as `7K2M-9QXD-04BN-TZRC`. */
export const drawCode = (): string =>
  group([...randomBytes(LENGTH)].map(byte => DIGITS[byte % DIGITS.length]).join(''))

/** Reads a code as people type it: in any case, with or without hyphens, O for 0, I and L for 1. */
const normalizeCode = (typed: string): string =>
  typed
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')

/** Shows the end of a code, by which its owner recognizes the card. */
export const labelOf = (code: string): string => `•••• ${normalizeCode(code).slice(-4)}`

/** Hashes a code with the secret of the shop, so that the database alone reveals no code. */
export const hashCode = (secrets: Platform['secrets'], code: string): string =>
  secrets.mac(HASH_PURPOSE, normalizeCode(code))

/** The hashes of a code under all secrets of the shop, also of those that were replaced. */
export const hashesOfCode = (secrets: Platform['secrets'], code: string): readonly string[] =>
  secrets.everyMac(HASH_PURPOSE, normalizeCode(code))

const group = (code: string): string => code.replaceAll(/.{4}(?=.)/g, '$&-')
