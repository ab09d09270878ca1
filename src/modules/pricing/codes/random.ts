import { randomInt } from 'node:crypto'

/** Without those that are taken for each other, and without U, so that hardly any word comes of it. */
const LETTERS = 'ABCDEFGHJKMNPQRSTVWXYZ23456789'

/** A code that nobody guesses. */
export const randomCode = (prefix: string, length: number): string =>
  prefix + Array.from({ length }, () => LETTERS[randomInt(LETTERS.length)]).join('')
