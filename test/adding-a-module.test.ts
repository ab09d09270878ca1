import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const EXAMPLES = new URL('../examples/', import.meta.url)
const QUOTE = /^\[([\w./-]+)\]\(\.\.\/examples\/([\w-]+)\/\1\):\n\n```\w+\n(.*?)^```$/gms
/** Guides that show files of an example. */
const GUIDES = [
  'adding-a-module.md',
  'extension-points.md',
  'gift-cards.md',
  'payment-providers.md',
  'shipping-carriers.md'
]

const pageOf = (name: string) => readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8')
const quotesOf = async (name: string) =>
  [...(await pageOf(name)).matchAll(QUOTE)].map(([, path = '', example = '', code = '']) => ({
    path: `${example}/${path}`,
    code
  }))

test.each([...GUIDES, 'publishing-a-module.md'])(
  'docs/%s quotes the files of its example unchanged',
  async guide => {
    const quotes = await quotesOf(guide)
    expect(quotes).not.toEqual([])
    for (const { path, code } of quotes)
      expect(code, path).toBe(await readFile(new URL(path, EXAMPLES), 'utf8'))
  }
)

test.each(GUIDES)('docs/%s shows no code but that of its example', async guide => {
  const quotes = await quotesOf(guide)
  expect(quotes.length).toBeGreaterThan(2)
  expect((await pageOf(guide)).match(/^```(?:ts|sql)$/gm)).toHaveLength(quotes.length)
})

test('docs/adding-a-module.md shows every file of the example module', async () => {
  const files = globSync(['wishlist/**/*.ts', 'wishlist/**/*.sql'], { cwd: fileURLToPath(EXAMPLES) })
  const shown = await quotesOf('adding-a-module.md')
  expect(shown.map(({ path }) => path).sort()).toEqual(files.sort())
})
