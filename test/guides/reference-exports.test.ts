import { expect, test } from 'vitest'
import { generatedExample, hasGeneratedExample } from '../module-commands/generated-examples.ts'
import { expectPage } from '../support/generated-page.ts'
import { type PublicExport, readPublicExports } from '../support/public-exports.ts'

/** The sections of the page, and the files whose exports each has. The first that fits decides. */
const TOPICS: readonly (readonly [title: string, RegExp])[] = [
  [
    'Shops and the command line',
    /^src\/(?:shop|version|app|config|cli\/.*|platform\/(?:platform|core-settings))\.ts$/
  ],
  ['Modules', /^src\/(?:module|kernel\/ports|kernel\/resources)\.ts$/],
  ['Settings of a module: `settings`', /^src\/kernel\/settings\.ts$/],
  ['Errors', /^src\/kernel\/errors\.ts$/],
  ['Schemas', /^src\/kernel\/schema\.ts$|^src\/index\.ts$/],
  ['Requests and responses: `wire`', /^src\/kernel\/wire\.ts$/],
  ['Routes', /^src\/(?:gateway\/(?:routing|callers)\/|kernel\/request-budget\.ts$)/],
  ['Writes', /^src\/(?:gateway\/writes|platform\/idempotency)\//],
  ['Database', /^src\/platform\/postgres\//],
  ['Lists', /^src\/kernel\/(?:pages|ids)\.ts$/],
  ['Events and jobs', /^src\/(?:kernel\/events|platform\/outbox\/.*)\.ts$/],
  ['Module admin', /^src\/modules\/admin\//],
  ['Module auth', /^src\/modules\/auth\//],
  ['Module cart', /^src\/modules\/cart\//],
  ['Module catalog', /^src\/modules\/catalog\//],
  ['Module inventory', /^src\/modules\/inventory\//],
  ['Module notifications', /^src\/modules\/notifications\//],
  ['Module orders', /^src\/modules\/orders\//],
  ['Module payments', /^src\/modules\/payments\//],
  ['Module pricing', /^src\/modules\/pricing\//],
  ['Module reviews', /^src\/modules\/reviews\//],
  ['Module shipping', /^src\/modules\/shipping\//],
  ['Module webhooks', /^src\/modules\/webhooks\//]
]
const TESTS = 'Tests: `cartwright/testing`'

const topicOf = ({ entry, path }: PublicExport): string | undefined =>
  entry === 'cartwright/testing' ? TESTS : TOPICS.find(([, files]) => files.test(path))?.[0]

const entryOf = (each: PublicExport): string => {
  const code = each.example ?? generatedExample(each)
  return `### ${each.name}\n\n${capitalOf(each.kind)}. ${each.text}\n\n\`\`\`text\n${code}\n\`\`\``
}
const capitalOf = (word: string) => word[0]?.toUpperCase() + word.slice(1)
const byName = (a: PublicExport, b: PublicExport) => (a.name.toLowerCase() < b.name.toLowerCase() ? -1 : 1)

test('docs/reference/exports.md lists every export with its example', async () => {
  const all = readPublicExports().filter(each => each.example !== undefined || hasGeneratedExample(each))
  expect(all.filter(each => topicOf(each) === undefined)).toEqual([])
  const sections = [...TOPICS.map(([title]) => title), TESTS]
    .map(title => ({ title, own: all.filter(each => topicOf(each) === title).toSorted(byName) }))
    .filter(({ own }) => own.length > 0)
  await expectPage('reference/exports.md', () =>
    sections.map(({ title, own }) => `## ${title}\n\n${own.map(entryOf).join('\n\n')}`).join('\n\n')
  )
})
