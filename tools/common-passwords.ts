import { readFileSync, writeFileSync } from 'node:fs'
import { foldLookalikeCharacters } from '../src/modules/auth/passwords/lookalikes.ts'

// Writes the list of common passwords, folded. A list for passwords of at least eight characters needs entries of that length
// (ASVS 5.0, 6.2.4); shorter ones occur as parts. Run:
//   npm pack @zxcvbn-ts/language-common@4.1.3 && tar xzf zxcvbn-ts-language-common-4.1.3.tgz
//   node tools/common-passwords.ts package/src/passwords.json package/LICENSE.txt
const [passwords = '', license = ''] = process.argv.slice(2)

const LENGTH_MIN = 5
const LONG = 8
const SHORT_MAX = 3_000
const LONG_MAX = 7_000
const VERY_LONG = 12
const COLUMNS = 400
const OUT = new URL('../src/modules/auth/passwords/common-list.ts', import.meta.url)

const ranked = JSON.parse(readFileSync(passwords, 'utf8')) as string[]
const folded = ranked.filter(each => /^[\x21-\x7e]+$/.test(each)).map(foldLookalikeCharacters)
const unique = [...new Set(folded)].filter(each => each.length >= LENGTH_MIN && !/[\\`$]/.test(each))
const long = unique.filter(each => each.length >= LONG)
const words = [
  ...new Set([
    ...unique.filter(each => each.length < LONG).slice(0, SHORT_MAX),
    ...long.slice(0, LONG_MAX),
    ...long.filter(each => each.length >= VERY_LONG)
  ])
]

const lines = ['']
for (const word of words) {
  const line = `${lines.at(-1)} ${word}`.trimStart()
  if (line.length > COLUMNS) lines.push(word)
  else lines[lines.length - 1] = line
}
writeFileSync(
  OUT,
  `/*!
 * The ${words.length} most common passwords, folded by lookalikes.ts; written by tools/common-passwords.ts.
 * Derived from @zxcvbn-ts/language-common 4.1.3, which has this license (MIT):
 *
${readFileSync(license, 'utf8')
  .trim()
  .split('\n')
  .map(line => ` * ${line}`.trimEnd())
  .join('\n')}
 */
export const COMMON_PASSWORDS_FOLDED = \`
${lines.join('\n')}
\`
`
)
