/**
 * Draws names and texts for readers who judge them without their surroundings: `npm run draw [commit]`.
 * Prints forty exported names, forty comments, forty API summaries and ten test names. The SHA of the commit is the seed,
 * so the draw can be repeated and not be chosen.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { type ApiDocument, operationsOf } from '../test/support/api-texts.ts'

const EXPORTED = /^export (?:async )?(?:const|function|type|class|interface) (\w+)/gm
const COMMENT = /\/\*\*([\s\S]*?)\*\/|((?:^[ \t]*\/\/ .*\n)+)/gm
const TEST = /^\s*(?:test|walk)(?:\.\w+\([^)]*\))?\(\s*(['"`])(.+?)\1,/gm
/** Shorter comments hold a unit or a source, which a reader cannot misunderstand. */
const WORDS_MIN = 5

const [commit = 'HEAD'] = process.argv.slice(2)
const seed = execFileSync('git', ['rev-parse', commit], { encoding: 'utf8' }).trim()
const rank = (text: string) => createHash('sha256').update(`${seed} ${text}`).digest('hex')
const draw = (items: readonly string[], count: number) =>
  [...new Set(items)]
    .map(item => ({ item, rank: rank(item) }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .slice(0, count)
    .map(({ item }) => item)

const read = (pattern: string) => globSync(pattern).map(path => ({ path, text: readFileSync(path, 'utf8') }))
const sources = read('src/**/*.ts').filter(({ path }) => !path.endsWith('.test.ts'))
const tests = [...read('src/**/*.test.ts'), ...read('test/**/*.test.ts')]
const document: ApiDocument = JSON.parse(readFileSync('openapi.json', 'utf8'))

const commentsOf = (text: string) =>
  [...text.matchAll(COMMENT)]
    .map(([comment]) =>
      comment
        .replace(/^\s*(?:\/\*\*|\/\/|\*\/|\*)|\*\/\s*$/gm, ' ')
        .replace(/\s+/g, ' ')
        .trim()
    )
    .filter(comment => comment.split(' ').length >= WORDS_MIN)
const named = ({ path, text }: { path: string; text: string }, pattern: RegExp, group: number) =>
  [...text.matchAll(pattern)].map(match => `${match[group]} (${path})`)

const sections: [title: string, items: readonly string[], count: number][] = [
  ['Exported names', sources.flatMap(file => named(file, EXPORTED, 1)), 40],
  [
    'Comments',
    sources.flatMap(({ path, text }) => commentsOf(text).map(comment => `${comment} (${path})`)),
    40
  ],
  [
    'API summaries',
    operationsOf(document).map(({ route, operation }) => `${operation.summary} (${route})`),
    40
  ],
  ['Test names', tests.flatMap(file => named(file, TEST, 2)), 10]
]
console.log(`Drawn from ${seed}. Each line ends with its place, which readers do not see.`)
for (const [title, items, count] of sections) {
  console.log(`\n## ${title}\n`)
  for (const [index, item] of draw(items, count).entries()) console.log(`${index + 1}. ${item}`)
}
