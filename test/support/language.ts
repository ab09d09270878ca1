import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path/posix'

/**
 * Words that do not say who acts, or that have a plainer form. `docs/glossary.md` says what to write instead. A quoted `nobody` is the
 * user of the operating system.
 */
const RIDDLES =
  /\b(?:whoever|whomever|whosoever|somebody|someone|anybody|anyone|nobody(?![`'"@])|(?<![`'" /=])nobody|no one|everybody|everyone|oneself|those who|what (?:is|was) (?:told|said|asked)|what becomes? of|let(?:s|ting)? go of|look(?:s|ed|ing)? after|anew|once more|in the place of)\b/gi

const TEXTS = [
  '{src,test,bench,tools,demo,examples}/**/*.{ts,js,sql,html,md,json,sh}',
  'docs/**/*.md',
  '*.{md,yaml,sh}',
  'openapi.json'
]
/** Decisions keep the words of their day, passwords are data, and three files are about these words. */
const EXEMPT =
  /^(?:docs\/decisions\/(?:\d|README\.md$)|src\/modules\/auth\/passwords\/common|test\/(?:spec|storefront-client|stored-[\w-]*\.json)|test\/support\/(?:language|api-texts)\.ts$|test\/language\.test\.ts$|docs\/glossary\.md$)|(?:^|\/)node_modules\/|(?:^|\/)dist\//

/** Files whose words are checked, as paths from `root`. */
export const textFiles = (root: string): string[] =>
  TEXTS.flatMap(pattern => globSync(pattern, { cwd: root }))
    .filter(path => !EXEMPT.test(path))
    .toSorted()

/** The riddles of a text, one line each: `12: whoever`. */
export const riddlesIn = (text: string): string[] =>
  text
    .split('\n')
    .flatMap((line, index) => [...line.matchAll(RIDDLES)].map(([word]) => `${index + 1}: ${word}`))

/** The riddles of all files below `root`, one line each: `src/app.ts:12: whoever`. */
export const riddlesBelow = (root: string): string[] =>
  textFiles(root).flatMap(path =>
    riddlesIn(readFileSync(join(root, path), 'utf8')).map(riddle => `${path}:${riddle}`)
  )

const EXPORTED_TYPE = /^export (?:type|interface|class) (\w+)/gm

/** Names of exported types that several files of `src` define, one line each: `Place: a.ts, b.ts`. */
export function repeatedTypes(root: string): string[] {
  const files = new Map<string, string[]>()
  for (const path of globSync('src/**/*.ts', { cwd: root, exclude: ['**/*.test.ts'] }).toSorted())
    for (const [, name = ''] of readFileSync(join(root, path), 'utf8').matchAll(EXPORTED_TYPE))
      files.set(name, [...(files.get(name) ?? []), path])
  return [...files]
    .filter(([, paths]) => paths.length > 1)
    .map(([name, paths]) => `${name}: ${paths.join(', ')}`)
    .toSorted()
}
