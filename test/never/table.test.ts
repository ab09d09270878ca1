import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

const root = new URL('../../', import.meta.url)
const table = await readFile(new URL('README.md', import.meta.url), 'utf8')
const named = [...table.matchAll(/`((?:test|src)\/[\w/-]+\.test\.ts)` "([^"]+)"/g)]

test('each test that the table of what must never happen names exists', async () => {
  const rows = table.split('\n').filter(line => line.startsWith('| ') && !line.startsWith('| never'))
  for (const row of rows) expect(row).toMatch(/\.test\.ts` "/)
  for (const [, path = '', name = ''] of named)
    expect(await readFile(new URL(path, root), 'utf8'), path).toContain(name)
})
