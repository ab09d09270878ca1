import { hash, randomInt } from 'node:crypto'

/** What is kept of a secret. Random secrets need no slow hash. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer')

const CONSONANTS = 'bdfghjkmnprstvz'
const VOWELS = 'aeiou'
const SYLLABLES = 10

/** A password that can be read out and typed: ten random syllables such as `doja-kevi-mura-posi-tedu`, 62 bits. */
export function readablePassword(): string {
  const syllables = Array.from({ length: SYLLABLES }, () => pick(CONSONANTS) + pick(VOWELS))
  return syllables.join('').replace(/.{4}(?=.)/g, '$&-')
}

const pick = (letters: string): string => letters.charAt(randomInt(letters.length))
