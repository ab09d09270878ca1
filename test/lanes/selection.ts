import { dirname } from 'node:path/posix'
import type { ImportGraph } from './imports.ts'
import { isTest, type Lane } from './lanes.ts'

export type TestSelection = {
  /** Test files, sorted. */
  tests: string[]
  /** Changed files for which no test is selected. */
  uncovered: string[]
}

/** If more test files than this import a changed helper, none of them is selected. */
const IMPORTERS_MAX = 30

/** Selects the tests of the changed files, and all tests of the unit lane. */
export function selectTests(
  paths: readonly string[],
  lanes: Readonly<Record<Lane, string[]>>,
  imports: ImportGraph
): TestSelection {
  const all = [...lanes.unit, ...lanes.shop, ...lanes.process, ...lanes.alone, ...lanes.long]
  const quick = [...lanes.unit, ...lanes.shop]
  const about = (path: string): string[] => {
    if (all.includes(path)) return [path]
    if (path.startsWith('src/')) return quick.filter(test => test.startsWith(areaOf(path)))
    if (path.startsWith('test/') && path.endsWith('.ts')) return importersOf(path, quick, imports)
    if (path.endsWith('.ts')) return []
    const name = path.slice(path.lastIndexOf('/') + 1)
    return quick.filter(test => imports.texts.get(test)?.includes(name))
  }
  const chosen = new Map(paths.map(path => [path, about(path)]))
  return {
    tests: [...new Set([...lanes.unit, ...[...chosen.values()].flat()])].sort(),
    uncovered: paths.filter(path => chosen.get(path)?.length === 0)
  }
}

/** The folder whose tests cover a source file: its module, its part of gateway or platform, or its own folder. */
function areaOf(path: string): string {
  const module = /^src\/modules\/[^/]+\//.exec(path)?.[0]
  return module ?? /^src\/[^/]+\/[^/]+\//.exec(path)?.[0] ?? `${dirname(path)}/`
}

/** Test files that import a helper. None for a helper that most tests import, because the full run covers it. */
function importersOf(path: string, tests: readonly string[], imports: ImportGraph): string[] {
  const found = tests.filter(test => imports.reach(test, isTest).has(path))
  return found.length > IMPORTERS_MAX ? [] : found
}
