/** Characters that replace letters in passwords. `i`, `l` and `1` look alike, so they fold to one. */
const LOOKALIKES: Readonly<Record<string, string>> = {
  '0': 'o',
  '1': 'i',
  '!': 'i',
  '|': 'i',
  l: 'i',
  '2': 'z',
  '3': 'e',
  '€': 'e',
  '4': 'a',
  '@': 'a',
  '5': 's',
  $: 's',
  '6': 'g',
  '9': 'g',
  '7': 't',
  '+': 't',
  '8': 'b',
  '(': 'c'
}

/**
 * Folds look-alike characters: lower case, without accents, with letters for digits and signs. The length is that of `text`
 * after NFKC.
 */
export const foldLookalikeCharacters = (text: string): string =>
  Array.from(text.normalize('NFKC').toLowerCase(), character => {
    const [base = character] = character.normalize('NFD')
    return LOOKALIKES[base] ?? base
  }).join('')
