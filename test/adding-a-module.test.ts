import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const FOLDER = new URL('../examples/wishlist/', import.meta.url)
const QUOTE = /^\[([\w./-]+)\]\(\.\.\/examples\/wishlist\/\1\):\n\n```\w+\n(.*?)^```$/gms

const page = await readFile(new URL('../docs/adding-a-module.md', import.meta.url), 'utf8')
const quotes = [...page.matchAll(QUOTE)].map(([, path = '', code = '']) => ({ path, code }))

test.each(quotes)(
  'docs/adding-a-module.md quotes the example file $path unchanged',
  async ({ path, code }) => {
    expect(code).toBe(await readFile(new URL(path, FOLDER), 'utf8'))
  }
)

test('docs/adding-a-module.md shows every file of the example module', () => {
  const files = globSync(['**/*.ts', '**/*.sql'], { cwd: fileURLToPath(FOLDER) })
  expect(quotes.map(({ path }) => path).sort()).toEqual(files.sort())
  expect(page.match(/^```(?:ts|sql)$/gm)).toHaveLength(files.length)
})
