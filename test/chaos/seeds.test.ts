import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { seeds } from './seeds.ts'

test('the seeded bugs of the chaos run have different names, and its guide lists each', () => {
  expect(new Set(seeds.map(({ name }) => name)).size).toBe(seeds.length)
  const guide = readFileSync('docs/chaos.md', 'utf8')
  const rows = seeds.map(({ name, promise }) => `| \`${name}\` | ${promise} |`)
  expect(rows.filter(row => !guide.includes(row))).toEqual([])
})

test.each(seeds)(
  'the seeded bug $name of the chaos run can be planted in the source',
  ({ file, find, replace }) => {
    expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2)
    expect(replace).not.toBe(find)
  }
)
