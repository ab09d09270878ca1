import type { Fault } from '../../../kernel/faults.ts'
import { passwordTooWeak } from '../errors.ts'
import { commonPasswords, commonWords } from './common.ts'

const PASSWORD_LENGTH_MAX = 256

export type PasswordContext = {
  /** The least length, in code points. */
  lengthMin: number
  email: string
  shopName: string
}
export type Weakness =
  | 'too_short'
  | 'too_long'
  | 'common'
  | 'repetition'
  | 'sequence'
  | 'contains_email'
  | 'contains_shop_name'

const PERSONAL_LENGTH_MIN = 4 // shorter names occur in good passwords by chance
const BLOCK_LENGTH_MAX = 4
const RUN_LENGTH_MIN = 4
const LEFT_BESIDE_RUNS_MIN = 4

/**
 * Why a password is too easy to guess; `undefined` when it is not. Length decides, not classes of characters (NIST
 * SP 800-63B, 3.1.1.2); beside it only what guessing programs try first is refused.
 */
export function passwordWeakness(password: string, context: PasswordContext): Weakness | undefined {
  const characters = [...password.normalize('NFKC')]
  // Both as typed and as hashed: one character can become eighteen.
  const lengths = [characters.length, [...password].length]
  if (Math.min(...lengths) < context.lengthMin) return 'too_short'
  if (Math.max(...lengths) > PASSWORD_LENGTH_MAX) return 'too_long'

  const folded = characters.join('').toLowerCase()
  if (commonPasswords.has(folded) || commonWords.has(withoutEnds(folded))) return 'common'
  if (isRepetition(folded)) return 'repetition'
  if (isSequence(folded)) return 'sequence'
  if (containsPersonal(folded, context.email.split('@', 1)[0])) return 'contains_email'
  if (containsPersonal(folded, context.shopName)) return 'contains_shop_name'
  return undefined
}

export type RequirePassword = {
  /** @throws `AUTH_PASSWORD_TOO_WEAK`, about the field at `path`. */
  (password: string, email: string, path?: string): void
  /** What is wrong with it, for an answer about more fields than this one. */
  faults(password: string, email: string): Fault[]
}

/** The rule of this shop for new passwords. */
export function passwordRule({ lengthMin, shopName }: Omit<PasswordContext, 'email'>): RequirePassword {
  const weaknessOf = (password: string, email: string) =>
    passwordWeakness(password, { lengthMin, email, shopName })
  const faultOf = (reason: Weakness, path = 'body/password'): Fault => ({
    path,
    message: weaknessWords(reason, lengthMin)
  })
  const require = (password: string, email: string, path?: string) => {
    const reason = weaknessOf(password, email)
    if (reason === undefined) return
    throw passwordTooWeak({ details: { reason, length_min: lengthMin, errors: [faultOf(reason, path)] } })
  }
  return Object.assign(require, {
    faults: (password: string, email: string) => {
      const reason = weaknessOf(password, email)
      return reason === undefined ? [] : [faultOf(reason)]
    }
  })
}

/** What the password must be instead, for whoever typed it. */
function weaknessWords(weakness: Weakness, lengthMin: number): string {
  const words: Readonly<Record<Weakness, string>> = {
    too_short: `must be at least ${lengthMin} characters long`,
    too_long: `must be at most ${PASSWORD_LENGTH_MAX} characters long`,
    common: 'must not be a common password',
    repetition: 'must not be the same few characters over and over',
    sequence: 'must not be a row of letters, digits or keys',
    contains_email: 'must not contain the name in your e-mail address',
    contains_shop_name: 'must not contain the name of the shop'
  }
  return words[weakness]
}

/** `!!password1234` is `password` to everybody who guesses. */
const withoutEnds = (text: string): string => text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')

/** One block of up to four characters, over and over: `aaaaaaaaaaaa`, `abcabcabcabc`, `12341234123`. */
function isRepetition(text: string): boolean {
  for (let block = 1; block <= BLOCK_LENGTH_MAX; block += 1) {
    if (text.slice(block) === text.slice(0, -block)) return true
  }
  return false
}

const ROWS = [
  'abcdefghijklmnopqrstuvwxyz',
  '01234567890',
  'qwertyuiop[]',
  "asdfghjkl;'",
  'zxcvbnm,./',
  'qwertzuiop',
  'yxcvbnm,.-',
  'azertyuiop',
  'qsdfghjklm',
  '!@#$%^&*()',
  '1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik,9ol.0p;/',
  '1q2w3e4r5t6y7u8i9o0p'
]
const LINES = ROWS.flatMap(row => [row, [...row].reverse().join('')])

/** Nothing but runs along the alphabet, the digits or the keyboard, and a few characters between them. */
function isSequence(text: string): boolean {
  let left = 0
  for (let index = 0; index < text.length; ) {
    const run = runLength(text, index)
    if (run < RUN_LENGTH_MIN) left += 1
    index += run < RUN_LENGTH_MIN ? 1 : run
  }
  return left < LEFT_BESIDE_RUNS_MIN
}

function runLength(text: string, start: number): number {
  let length = 1
  while (
    start + length < text.length &&
    LINES.some(line => line.includes(text.slice(start, start + length + 1)))
  )
    length += 1
  return length
}

function containsPersonal(text: string, word: string | undefined): boolean {
  const folded = (word ?? '').normalize('NFKC').toLowerCase()
  return folded.length >= PERSONAL_LENGTH_MIN && text.includes(folded)
}
