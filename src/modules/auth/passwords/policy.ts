import type { FieldFault } from '../../../kernel/faults.ts'
import { passwordTooWeakError } from '../errors.ts'
import { commonPasswordWords } from './common-passwords.ts'
import { isGuessablePassword } from './guessable.ts'

const PASSWORD_LENGTH_MAX = 256

export type PasswordPolicyContext = {
  /** Minimum length, in code points. */
  lengthMin: number
  email: string
  shopName: string
}
export type PasswordWeakness =
  | 'too_short'
  | 'too_long'
  | 'common'
  | 'repetition'
  | 'sequence'
  | 'contains_email'
  | 'contains_shop_name'

const PERSONAL_LENGTH_MIN = 4 // shorter names occur in strong passwords by chance
const RUN_LENGTH_MIN = 4
const LEFT_BESIDE_RUNS_MIN = 4

/**
 * Returns every reason why a password is too easy to guess. Length matters, not character classes (NIST SP 800-63B, 3.1.1.2).
 * In addition, passwords that cracking tools try first are rejected.
 */
export function passwordWeaknesses(password: string, context: PasswordPolicyContext): PasswordWeakness[] {
  const characters = [...password.normalize('NFKC')]
  // The length is checked before and after normalization, because one character can become eighteen.
  const lengths = [characters.length, [...password].length]
  if (Math.max(...lengths) > PASSWORD_LENGTH_MAX) return ['too_long']

  const folded = characters.join('').toLowerCase()
  const isCommon = commonPasswordWords.has(withoutEnds(folded)) || isGuessablePassword(folded)
  const weaknesses: (PasswordWeakness | false)[] = [
    Math.min(...lengths) < context.lengthMin && 'too_short',
    isCommon && 'common',
    !isCommon && isRepetition(folded) && 'repetition',
    !isCommon && isSequence(folded) && 'sequence',
    containsPersonal(folded, context.email.split('@', 1)[0]) && 'contains_email',
    containsPersonal(folded, context.shopName) && 'contains_shop_name'
  ]
  return weaknesses.filter(weakness => weakness !== false)
}

/** @throws `AUTH_PASSWORD_TOO_WEAK`, for the field at `path`, with `others`, the faults of other fields. */
type AssertPassword = (
  password: string,
  email: string,
  about?: { path?: string; others?: readonly FieldFault[] }
) => void
export type RequireStrongPassword = AssertPassword & {
  /** Returns the faults of a password, for an error about several fields. */
  faults(password: string, email: string): FieldFault[]
}

/** Creates the check of new passwords. */
export function createPasswordStrengthCheck({
  lengthMin,
  shopName
}: Omit<PasswordPolicyContext, 'email'>): RequireStrongPassword {
  const reasonsOf = (password: string, email: string) =>
    passwordWeaknesses(password, { lengthMin, email, shopName })
  const faultsOf = (reasons: readonly PasswordWeakness[], path = 'body/password'): FieldFault[] =>
    reasons.map(reason => ({ path, message: weaknessWords(reason, lengthMin) }))
  const assertPassword: AssertPassword = (password, email, { path, others = [] } = {}) => {
    const [reason, ...further] = reasonsOf(password, email)
    if (reason === undefined) return
    const errors = [...faultsOf([reason, ...further], path), ...others]
    throw passwordTooWeakError({ details: { reason, length_min: lengthMin, errors } })
  }
  return Object.assign(assertPassword, {
    faults: (password: string, email: string) => faultsOf(reasonsOf(password, email))
  })
}

/** Returns the message for a form field. */
function weaknessWords(weakness: PasswordWeakness, lengthMin: number): string {
  const words: Readonly<Record<PasswordWeakness, string>> = {
    too_short: `must be at least ${lengthMin} characters long`,
    too_long: `must be at most ${PASSWORD_LENGTH_MAX} characters long`,
    common: 'must not be a common password',
    repetition: 'must not repeat the same characters',
    sequence: 'must not be a sequence of letters, digits or keys',
    contains_email: 'must not contain the name in your e-mail address',
    contains_shop_name: 'must not contain the name of the shop'
  }
  return words[weakness]
}

/** Strips digits and signs at the ends: cracking tools try `!!password1234` with `password`. */
const withoutEnds = (text: string): string => text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')

/** Whether a password repeats one block: `aaaaaaaaaaaa`, `12341234123`, `trombone-trombone-`. */
function isRepetition(text: string): boolean {
  for (let block = 1; block <= text.length / 2; block += 1) {
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

/** Whether a password consists of runs along the alphabet, digits or keyboard, and a few other characters. */
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
