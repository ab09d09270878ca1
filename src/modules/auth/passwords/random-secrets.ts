import { hash, randomInt } from 'node:crypto'

/** Hashes a random secret for storage. It needs no slow hash. */
export const hashSecret = (secret: string): Buffer => hash('sha256', secret, 'buffer')

const CONSONANTS = 'bdfghjkmnprstvz'
const VOWELS = 'aeiou'
const SYLLABLES = 10

/** Returns a readable password of ten random syllables such as `doja-kevi-mura-posi-tedu`, 62 bits. */
export function generateReadablePassword(): string {
  const syllables = Array.from({ length: SYLLABLES }, () => pick(CONSONANTS) + pick(VOWELS))
  return syllables.join('').replace(/.{4}(?=.)/g, '$&-')
}

const pick = (letters: string): string => letters.charAt(randomInt(letters.length))
