import { COMMON_PASSWORDS_FOLDED } from './common-list.ts'
import { commonPasswords, commonPasswordWords } from './common-passwords.ts'
import { foldLookalikeCharacters } from './lookalikes.ts'

const WORD_LENGTH_MIN = 5
const WORD_LENGTH_MAX = 24
const LETTERS_BESIDE_MIN = 4
const OTHERS_BESIDE_MIN = 8

let lists: { whole: ReadonlySet<string>; words: ReadonlySet<string> } | undefined

/** The word list is loaded with the first password, because it has about ten thousand words. */
function loadLists() {
  const words = new Set([
    ...COMMON_PASSWORDS_FOLDED.trim().split(/\s+/),
    ...[...commonPasswordWords].map(foldLookalikeCharacters)
  ])
  return { whole: new Set([...commonPasswords].map(foldLookalikeCharacters)), words }
}

/**
 * Whether cracking tools try a password early: a common one, also with look-alike characters, reversed, repeated, or with
 * fewer than four additional letters and eight additional digits or signs.
 */
export function isGuessablePassword(password: string): boolean {
  lists ??= loadLists()
  const { whole, words } = lists
  const folded = foldLookalikeCharacters(password)
  if (whole.has(folded) || whole.has(reversed(folded))) return true
  const isLetter = Array.from(password.normalize('NFKC'), character => /\p{L}/u.test(character))
  return wordsIn(folded, words).some(word => isMostly(word, folded, isLetter))
}

const reversed = (text: string): string => [...text].reverse().join('')

/** Returns the common words in a text, forwards or reversed. */
function wordsIn(text: string, words: ReadonlySet<string>): string[] {
  const found = new Set<string>()
  for (const direction of [text, reversed(text)])
    for (let start = 0; start + WORD_LENGTH_MIN <= direction.length; start += 1)
      for (
        let length = WORD_LENGTH_MIN;
        length <= WORD_LENGTH_MAX && start + length <= direction.length;
        length += 1
      ) {
        const part = direction.slice(start, start + length)
        if (words.has(part)) found.add(part)
      }
  return [...found]
}

/** Whether a text is little more than repetitions of one word, forwards or reversed. */
function isMostly(word: string, text: string, isLetter: readonly boolean[]): boolean {
  let letters = 0
  let others = 0
  for (let index = 0; index < text.length; ) {
    if (text.startsWith(word, index) || text.startsWith(reversed(word), index)) {
      index += word.length
      continue
    }
    if (isLetter[index] === true) letters += 1
    else others += 1
    index += 1
  }
  return letters < LETTERS_BESIDE_MIN && others < OTHERS_BESIDE_MIN
}
