/** What makes no difference in a number is left out: spaces, hyphens, and whether letters are capitals. */
export const keyOf = (number: string): string => number.toUpperCase().replace(/[^\p{L}\p{N}]/gu, '')

/** What the numbers of a carrier look like. */
export type NumberRule = {
  /** `#` a digit, `@` a letter, `*` either; `~`, at its end, any more of these; all else is meant as it is. */
  readonly mask: string
  readonly check: Check | null
}
export type Check = keyof typeof CHECKS

const digitsOf = (text: string) => [...text].map(Number)
const weighed = (digits: readonly number[], weights: readonly number[]) =>
  digits.reduce((sum, digit, index) => sum + digit * (weights[index % weights.length] ?? 0), 0)
/** The digit that is missing to the next ten, when the digits count so many times from the last one on. */
const missingToTen = (digits: readonly number[], weights: readonly number[]) =>
  (10 - (weighed(digits.toReversed(), weights) % 10)) % 10

/** By the digit that belongs behind what comes before it, in the way of each. */
const CHECKS = {
  /** UPS, behind 1Z: letters count as digits, from A, which is 2. */
  ups: key => isLast(key, missingToTen([...key.slice(2, -1)].map(digitOfUps), [1, 2])),
  /** GS1, General Specifications, section 7.9: SSCC and what is made like it. */
  gs1: key => isLast(key, missingToTen(digitsOf(key.slice(0, -1)), [3, 1])),
  /** FedEx Express, of 12 digits. */
  fedex: key => isLast(key, (weighed(digitsOf(key.slice(0, -1)), [3, 1, 7]) % 11) % 10),
  /** DHL Express. */
  mod7: key => isLast(key, Number(key.slice(0, -1)) % 7),
  /** UPU S10, section 5: two letters, eight digits and their check digit, two letters. */
  s10: key => {
    const sum = 11 - (weighed(digitsOf(key.slice(2, 10)), [8, 6, 4, 2, 3, 5, 9, 7]) % 11)
    return Number(key[10]) === (sum === 10 ? 0 : sum === 11 ? 5 : sum)
  }
} as const satisfies Record<string, (key: string) => boolean>
export const CHECK_NAMES = Object.keys(CHECKS) as Check[]

const isLast = (key: string, digit: number) => key.endsWith(String(digit))
const digitOfUps = (sign: string) => (/\d/.test(sign) ? Number(sign) : (sign.charCodeAt(0) - 3) % 10)

const SIGNS: Readonly<Record<string, string>> = {
  '#': '[0-9]',
  '@': '[A-Z]',
  '*': '[0-9A-Z]',
  '~': '[0-9A-Z]*'
}
const patternOf = (mask: string) => new RegExp(`^${[...mask].map(sign => SIGNS[sign] ?? sign).join('')}$`)

/** What is wrong with a number of a carrier with these rules; `undefined`: nothing. */
export function faultOf(number: string, rules: readonly NumberRule[]): 'form' | 'check_digit' | undefined {
  const key = keyOf(number)
  const alike = rules.filter(({ mask }) => patternOf(mask).test(key))
  if (rules.length > 0 && alike.length === 0) return 'form'
  return alike.every(({ check }) => check !== null && !CHECKS[check](key)) && alike.length > 0
    ? 'check_digit'
    : undefined
}
