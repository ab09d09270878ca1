import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { seeds } from './seeds.ts'

test("there are at least 20 seeded bugs in the sources' list, and their names differ", () => {
  expect(new Set(seeds.map(({ name }) => name)).size).toBe(seeds.length)
  expect(seeds.length).toBeGreaterThanOrEqual(20)
})

test.each(seeds)('the seeded bug $name can be planted in the source', ({ file, find, replace, tests }) => {
  expect(readFileSync(file, 'utf8').split(find)).toHaveLength(2)
  expect(replace).not.toBe(find)
  expect(tests.filter(path => !existsSync(path))).toEqual([])
})
