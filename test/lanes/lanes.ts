import type { ImportGraph } from './imports.ts'

/**
 * How a test file is run:
 * - `unit`: files share a process, and there is no database.
 * - `shop`: files share a process that has loaded the program once, and clone databases.
 * - `process`: files share a process, and start others.
 * - `alone`: each file has a process of its own, because it replaces loaded modules or declares another reason.
 * - `long`: as `process`, and only `npm run test:long` runs it. It declares which shorter test keeps its promise meanwhile.
 */
export type Lane = 'unit' | 'shop' | 'process' | 'alone' | 'long'

/** Helpers that open a database: a clone of the template, or the test shop. */
const DATABASES = ['test/support/database.ts', 'src/testing.ts']
/** Modules that start processes. */
const STARTERS = ['node:child_process', 'node:worker_threads', 'src/embedded-postgres/open.ts']
/** A module that is mocked may be loaded already where files share a process. */
const MOCKS = /^\s*vi\.(?:mock|doMock|resetModules)\(/m
/** `// Lane alone: <reason>` or `// Lane long: <reason>` in a test file. */
const DECLARED = /^\/\/ Lane (alone|long): \S.*$/m

export const isTest = (path: string) => path.startsWith('test/') || path.endsWith('.test.ts')

export function laneOf(path: string, { texts, reach }: ImportGraph): Lane {
  const text = texts.get(path) ?? ''
  const declared = DECLARED.exec(text)?.[1] as 'alone' | 'long' | undefined
  if (declared !== undefined) return declared
  if (MOCKS.test(text)) return 'alone'
  // The program itself can start processes, so only the test and its helpers are searched.
  const helpers = reach(path, isTest)
  if (STARTERS.some(each => helpers.has(each))) return 'process'
  const all = reach(path)
  return DATABASES.some(each => all.has(each)) ? 'shop' : 'unit'
}

/** Every test file by its lane. */
export function lanesOf(imports: ImportGraph): Record<Lane, string[]> {
  const lanes: Record<Lane, string[]> = { unit: [], shop: [], process: [], alone: [], long: [] }
  for (const path of imports.texts.keys())
    if (path.endsWith('.test.ts')) lanes[laneOf(path, imports)].push(path)
  return lanes
}
