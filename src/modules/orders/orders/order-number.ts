import { createHmac } from 'node:crypto'

/** 2^40 numbers fit into 8 characters of base 32. */
const HALF_BITS = 20
const CHARACTERS = 8
const ROUNDS = 8
/** Crockford's base 32, which avoids characters that look alike. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Returns the order number of a sequence value, such as `7Q3M-K0XD`. Other order numbers cannot be derived
 * from one without the key.
 */
export function orderNumberOfSequenceValue(value: number, key: Buffer): string {
  let rest = permuteByFeistelNetwork(value, key, HALF_BITS)
  let text = ''
  for (let place = 0; place < CHARACTERS; place += 1) {
    text = (ALPHABET[rest % ALPHABET.length] ?? '') + text
    rest = Math.floor(rest / ALPHABET.length)
  }
  return `${text.slice(0, CHARACTERS / 2)}-${text.slice(CHARACTERS / 2)}`
}

/** Normalizes a typed order number: upper case, with a dash, and letters that look like digits replaced. */
export function normalizeOrderNumber(typed: string): string {
  const text = typed
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
  return `${text.slice(0, CHARACTERS / 2)}-${text.slice(CHARACTERS / 2)}`
}

/** Maps each value below `4 ** halfBits` to another such value, one to one: a Feistel network. */
export function permuteByFeistelNetwork(value: number, key: Buffer, halfBits: number): number {
  const size = 2 ** halfBits
  let [left, right] = [Math.floor(value / size), value % size]
  for (let round = 0; round < ROUNDS; round += 1)
    [left, right] = [right, left ^ (mixed(right, round, key) % size)]
  return left * size + right
}

const mixed = (half: number, round: number, key: Buffer): number =>
  createHmac('sha256', key).update(`${round} ${half}`).digest().readUInt32BE()
