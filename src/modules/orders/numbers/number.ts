import { createHmac } from 'node:crypto'

/** There are 2^40 numbers, which 8 characters tell apart. */
const HALF_BITS = 20
const CHARACTERS = 8
const ROUNDS = 8
/** Crockford's base 32: nothing in it is mistaken for something else when it is read out. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** The number of the order that is the `value`th, such as `7Q3M-K0XD`: nobody without the key knows the one before it. */
export function numberOf(value: number, key: Buffer): string {
  let left = permute(value, key, HALF_BITS)
  let text = ''
  for (let place = 0; place < CHARACTERS; place += 1) {
    text = (ALPHABET[left % ALPHABET.length] ?? '') + text
    left = Math.floor(left / ALPHABET.length)
  }
  return `${text.slice(0, CHARACTERS / 2)}-${text.slice(CHARACTERS / 2)}`
}

/** A number as somebody has typed it: in any case, without its dash, with letters that look like figures. */
export function readNumber(typed: string): string {
  const text = typed
    .toUpperCase()
    .replaceAll(/[^0-9A-Z]/g, '')
    .replaceAll('O', '0')
    .replaceAll(/[IL]/g, '1')
  return `${text.slice(0, CHARACTERS / 2)}-${text.slice(CHARACTERS / 2)}`
}

/** One of the values below `4 ** halfBits` for each of them: a Feistel network, whose rounds can be undone with the key. */
export function permute(value: number, key: Buffer, halfBits: number): number {
  const size = 2 ** halfBits
  let [left, right] = [Math.floor(value / size), value % size]
  for (let round = 0; round < ROUNDS; round += 1)
    [left, right] = [right, left ^ (mixed(right, round, key) % size)]
  return left * size + right
}

const mixed = (half: number, round: number, key: Buffer): number =>
  createHmac('sha256', key).update(`${round} ${half}`).digest().readUInt32BE()
