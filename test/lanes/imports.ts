import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path/posix'

/** The value imports of every TypeScript file below `src` and `test`, by path from the root of the project. */
export type ImportGraph = {
  readonly texts: ReadonlyMap<string, string>
  /** The files and packages that a file imports itself; empty for a file that is not one of the project. */
  importsOf(path: string): readonly string[]
  /** The file and everything that it imports, transitively through files that `enters` accepts. */
  reach(path: string, enters?: (path: string) => boolean): ReadonlySet<string>
}

// A statement begins a line, so that imports in strings of tests do not count. Type imports are not loaded.
const IMPORT =
  /^[ \t]*(?:import|export)\s(?!type\s)[^'"`;]*?\bfrom\s+['"]([^'"\n]+)['"]|^[ \t]*import\s+['"]([^'"\n]+)['"]|\bimport\(\s*['"]([^'"\n]+)['"]/gm

export function readImports(root: string): ImportGraph {
  const paths = globSync(['src/**/*.ts', 'test/**/*.ts'], { cwd: root, exclude: ['**/*.d.ts'] })
  const texts = new Map(paths.toSorted().map(path => [path, readFileSync(join(root, path), 'utf8')]))
  const graph = new Map<string, string[]>()
  for (const [path, text] of texts) {
    const names = [...text.matchAll(IMPORT)].map(match => match[1] ?? match[2] ?? match[3] ?? '')
    graph.set(
      path,
      names.map(name => (name.startsWith('.') ? join(dirname(path), name) : name))
    )
  }
  const importsOf = (path: string) => graph.get(path) ?? []
  return {
    texts,
    importsOf,
    reach(path, enters = () => true) {
      const reached = new Set([path])
      for (const each of reached) if (enters(each)) for (const next of importsOf(each)) reached.add(next)
      return reached
    }
  }
}
