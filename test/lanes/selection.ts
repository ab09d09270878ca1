import { dirname } from 'node:path/posix'
import type { ImportGraph } from './imports.ts'
import { isTest, type Lane } from './lanes.ts'

export type Selection = {
  /** Test files, sorted. */
  tests: string[]
  /** Changed files that no selected test is about. */
  uncovered: string[]
}

/** More test files than that are not run for a helper that they import. */
const IMPORTERS_MAX = 30

/** The tests of what has changed, beside all of the lane for units. */
export function testsOf(
  paths: readonly string[],
  lanes: Readonly<Record<Lane, string[]>>,
  imports: ImportGraph
): Selection {
  const all = [...lanes.unit, ...lanes.shop, ...lanes.process, ...lanes.alone]
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

/** Whose tests are about a source: those of its module, of its part of gateway and platform, of its folder. */
function areaOf(path: string): string {
  const module = /^src\/modules\/[^/]+\//.exec(path)?.[0]
  return module ?? /^src\/[^/]+\/[^/]+\//.exec(path)?.[0] ?? `${dirname(path)}/`
}

/** A helper that most tests import is none of these tests' business: what it breaks, the whole run shows. */
function importersOf(path: string, tests: readonly string[], imports: ImportGraph): string[] {
  const found = tests.filter(test => imports.reach(test, isTest).has(path))
  return found.length > IMPORTERS_MAX ? [] : found
}
