import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { type ImportGraph, readImports } from './imports.ts'
import { laneOf, lanesOf } from './lanes.ts'
import { selectTests } from './selection.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const imports = readImports(root)
const lanes = lanesOf(imports)

/** The graph with one more test file. */
function withTest(path: string, text: string): ImportGraph {
  const names = [...text.matchAll(/from '(.*)'/g)].map(([, name = '']) => name)
  const own = names.map(name => (name.startsWith('.') ? `test/${name.slice(2)}` : name))
  const importsOf = (each: string) => (each === path ? own : imports.importsOf(each))
  return {
    texts: new Map([...imports.texts, [path, text]]),
    importsOf,
    reach(from, enters = () => true) {
      const reached = new Set([from])
      for (const each of reached) if (enters(each)) for (const next of importsOf(each)) reached.add(next)
      return reached
    }
  }
}

test.each([
  ['unit', 'imports the domain alone', "import { parseAmount } from '../src/kernel/money.ts'"],
  ['shop', 'opens a shop', "import { useShop } from './support/use-shop.ts'"],
  ['shop', 'opens a database through a helper', "import { usePayments } from './support/payments.ts'"],
  ['process', 'starts a process', "import { spawn } from 'node:child_process'"],
  ['process', 'starts the program through a helper', "import { startProgram } from './support/program.ts'"],
  ['alone', 'mocks a module', "import { vi } from 'vitest'\nvi.mock('node:dns')"],
  ['alone', 'declares a reason', '// Lane alone: it counts every module that is loaded.'],
  ['unit', 'declares no reason', '// Lane alone: '],
  [
    'long',
    'takes a minute',
    "// Lane long: a shorter one is beside it.\nimport { spawn } from 'node:child_process'"
  ]
])('the test run has the lane %s for a test that %s', (lane, _, text) => {
  expect(laneOf('test/planted.test.ts', withTest('test/planted.test.ts', text))).toBe(lane)
})

test('every test file is in exactly one lane of the test run, and no lane is empty', () => {
  const all = [...lanes.unit, ...lanes.shop, ...lanes.process, ...lanes.alone, ...lanes.long]
  expect(all.toSorted()).toEqual([...imports.texts.keys()].filter(path => path.endsWith('.test.ts')))
  for (const tests of Object.values(lanes)) expect(tests.length).toBeGreaterThan(0)
})

test('a unit test that requests a database fails with the name of the lane that has one', async () => {
  expect(inject('serverUrl')).toBeUndefined()
  // Hidden from the lanes, as a computed import is.
  const { createTestDatabase } = await import(['..', 'support', 'database.ts'].join('/'))
  await expect(createTestDatabase()).rejects.toThrow(/^needs the shop lane: /)
})

test('a change in a module selects the tests of this module for the run', () => {
  const { tests, uncovered } = selectTests(['src/modules/cart/carts/repository.ts'], lanes, imports)
  const others = tests.filter(path => !lanes.unit.includes(path))
  expect(others).toContain('src/modules/cart/merge/routes.test.ts')
  expect(others.filter(path => !path.startsWith('src/modules/cart/'))).toEqual([])
  expect(tests).toEqual(expect.arrayContaining(lanes.unit))
  expect(uncovered).toEqual([])
})

test('a changed test file is selected for the run, whatever its lane, and so are tests that import a changed helper', () => {
  expect(selectTests(['test/stop.test.ts'], lanes, imports).tests).toContain('test/stop.test.ts')
  expect(selectTests(['test/support/reviews.ts'], lanes, imports).tests).toContain(
    'src/modules/reviews/storefront/routes.test.ts'
  )
})

test('changed files that no selected test covers are named', () => {
  const paths = ['bench/cart.ts', 'test/support/database.ts']
  expect(selectTests(paths, lanes, imports)).toEqual({ tests: lanes.unit.toSorted(), uncovered: paths })
})

test('the list of the longest test files names existing files', () => {
  const text = readFileSync(`${root}test/lanes/longest-first.ts`, 'utf8')
  const named = [...text.matchAll(/'((?:src|test)\/[^']+)'/g)].map(([, path]) => path)
  expect(named.length).toBeGreaterThan(3)
  expect(named.filter(path => !imports.texts.has(path ?? ''))).toEqual([])
})

/** The names of statements that the text of a file declares, by path. Files of one process share a registry of names. */
function repeatedStatementNames(texts: ReadonlyMap<string, string>): string[] {
  const declaring = new Map<string, Set<string>>()
  for (const [path, text] of texts)
    for (const [, name = ''] of text.matchAll(/\bstatement\(\{\s*name: '([^']+)'/g))
      declaring.set(name, (declaring.get(name) ?? new Set()).add(path))
  return [...declaring].filter(([, paths]) => paths.size > 1).map(([name, paths]) => `${name}: ${[...paths]}`)
}

test('no two files declare a statement with the same name, because test files of one lane share a process', () => {
  expect(repeatedStatementNames(imports.texts)).toEqual([])
  const planted = "const once = statement({\n  name: 'test.twice', text: 'select 1' })"
  const files = new Map([...imports.texts, ['a.test.ts', planted], ['b.test.ts', planted]])
  expect(repeatedStatementNames(files)).toEqual(['test.twice: a.test.ts,b.test.ts'])
})
