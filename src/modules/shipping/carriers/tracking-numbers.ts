/** Normalizes a tracking number: removes spaces and hyphens, and converts letters to upper case. */
export const normalizeTrackingNumber = (number: string): string =>
  number.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '')

/** A format of a carrier's tracking numbers. */
export type TrackingNumberFormat = {
  /** `#` is a digit, `@` a letter, `*` either; `~` at the end allows more of these. Other characters stand for themselves. */
  readonly mask: string
  readonly check: TrackingNumberCheckMethod | null
}
export type TrackingNumberCheckMethod = keyof typeof CHECKS

const digitsOf = (text: string) => [...text].map(Number)
const weightedSum = (digits: readonly number[], weights: readonly number[]) =>
  digits.reduce((sum, digit, index) => sum + digit * (weights[index % weights.length] ?? 0), 0)
/** Computes a modulo-10 check digit. Weights apply from the last digit. */
const mod10CheckDigit = (digits: readonly number[], weights: readonly number[]) =>
  (10 - (weightedSum(digits.toReversed(), weights) % 10)) % 10

/** Check digit algorithms. */
const CHECKS = {
  /** UPS, after 1Z: letters count as digits, starting with A = 2. */
  ups: key => isLast(key, mod10CheckDigit([...key.slice(2, -1)].map(upsDigit), [1, 2])),
  /** GS1, General Specifications, section 7.9: SSCC and numbers like it. */
  gs1: key => isLast(key, mod10CheckDigit(digitsOf(key.slice(0, -1)), [3, 1])),
  /** FedEx Express, 12 digits. */
  fedex: key => isLast(key, (weightedSum(digitsOf(key.slice(0, -1)), [3, 1, 7]) % 11) % 10),
  /** DHL Express. */
  mod7: key => isLast(key, Number(key.slice(0, -1)) % 7),
  /** UPU S10, section 5: two letters, eight digits and their check digit, two letters. */
  s10: key => {
    const sum = 11 - (weightedSum(digitsOf(key.slice(2, 10)), [8, 6, 4, 2, 3, 5, 9, 7]) % 11)
    return Number(key[10]) === (sum === 10 ? 0 : sum === 11 ? 5 : sum)
  }
} as const satisfies Record<string, (key: string) => boolean>
export const TRACKING_NUMBER_CHECK_METHODS = Object.keys(CHECKS) as TrackingNumberCheckMethod[]

const isLast = (key: string, digit: number) => key.endsWith(String(digit))
const upsDigit = (sign: string) => (/\d/.test(sign) ? Number(sign) : (sign.charCodeAt(0) - 3) % 10)

const SIGNS: Readonly<Record<string, string>> = {
  '#': '[0-9]',
  '@': '[A-Z]',
  '*': '[0-9A-Z]',
  '~': '[0-9A-Z]*'
}
const patternOf = (mask: string) => new RegExp(`^${[...mask].map(sign => SIGNS[sign] ?? sign).join('')}$`)

/** Returns what is wrong with a number by these rules, or `undefined` when it is valid. */
export function findTrackingNumberFault(
  number: string,
  rules: readonly TrackingNumberFormat[]
): 'form' | 'check_digit' | undefined {
  const key = normalizeTrackingNumber(number)
  const alike = rules.filter(({ mask }) => patternOf(mask).test(key))
  if (rules.length > 0 && alike.length === 0) return 'form'
  return alike.every(({ check }) => check !== null && !CHECKS[check](key)) && alike.length > 0
    ? 'check_digit'
    : undefined
}
