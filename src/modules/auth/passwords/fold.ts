/** Characters that stand for letters in passwords. `i`, `l` and `1` look alike, so all of them are one. */
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
 * One spelling of what looks alike: lower case, without accents, with letters in the place of digits and signs. As many
 * characters as `text` has after NFKC.
 */
export const foldLookalikes = (text: string): string =>
  Array.from(text.normalize('NFKC').toLowerCase(), character => {
    const [base = character] = character.normalize('NFD')
    return LOOKALIKES[base] ?? base
  }).join('')
