/**
 * Counts the structure of `src` at one commit or more: `node tools/structure.ts [commit ...]`, without a commit of the working
 * tree. Tests are left out; imports of types count, because a reader follows them, too.
 */
import { execFileSync } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path/posix'

const IMPORT =
  /^[ \t]*(?:import|export)\s[^'"`;]*?\bfrom\s+['"](\.[^'"\n]+)['"]|\bimport\(\s*['"](\.[^'"\n]+)['"]/gm
const SHORT_LINES_MAX = 15
const LAYERS = ['kernel', 'platform', 'payment-sandbox', 'gateway', 'declarations', 'modules', 'composition']
/** What modules are declared with: it lies below them. */
const DECLARATIONS = /^src\/(module|config[\w-]*|module-problems)\.ts$/

type Graph = ReadonlyMap<string, { lines: number; imports: readonly string[] }>

function layerOf(path: string): number {
  const [, folder = ''] = path.split('/')
  if (DECLARATIONS.test(path)) return LAYERS.indexOf('declarations')
  const layer = LAYERS.indexOf(folder)
  return layer === -1 ? LAYERS.indexOf('composition') : layer
}

function readGraph(root: string): Graph {
  const paths = globSync('src/**/*.ts', { cwd: root, exclude: ['**/*.d.ts', '**/*.test.ts'] })
  return new Map(
    paths.toSorted().map(path => {
      const text = readFileSync(join(root, path), 'utf8')
      const names = [...text.matchAll(IMPORT)].map(match => join(dirname(path), match[1] ?? match[2] ?? ''))
      return [path, { lines: text.split('\n').length - 1, imports: names }]
    })
  )
}

/** Groups of files of which each is reached from each other one (Tarjan's strongly connected components). */
function circlesOf(graph: Graph): string[][] {
  const order = new Map<string, number>()
  const lowest = new Map<string, number>()
  const stack: string[] = []
  const circles: string[][] = []
  const low = (path: string) => lowest.get(path) ?? 0
  const visit = (path: string): void => {
    order.set(path, order.size)
    lowest.set(path, order.size - 1)
    stack.push(path)
    for (const next of graph.get(path)?.imports ?? []) {
      if (!graph.has(next)) continue
      if (!order.has(next)) visit(next)
      if (stack.includes(next)) lowest.set(path, Math.min(low(path), low(next)))
    }
    if (low(path) !== order.get(path)) return
    const circle = stack.splice(stack.indexOf(path))
    if (circle.length > 1) circles.push(circle)
  }
  for (const path of graph.keys()) if (!order.has(path)) visit(path)
  return circles
}

const importsOf = (graph: Graph) =>
  [...graph].flatMap(([from, { imports }]) => imports.map(to => [from, to] as const))

/** Pairs of first-level folders of a module that import each other. */
function pairsOf(graph: Graph, module: string): string[] {
  const folderOf = (path: string) => new RegExp(`^src/modules/${module}/([^/]+)/`).exec(path)?.[1]
  const edges = new Set(importsOf(graph).map(([from, to]) => `${folderOf(from)} ${folderOf(to)}`))
  return [...edges].filter(edge => {
    const [from = '', to = ''] = edge.split(' ')
    return from < to && !edge.includes('undefined') && edges.has(`${to} ${from}`)
  })
}

function report(name: string, root: string): void {
  const graph = readGraph(root)
  const upwards = importsOf(graph).filter(([from, to]) => layerOf(from) < layerOf(to))
  const circles = circlesOf(graph)
  const short = [...graph].filter(([, { lines }]) => lines <= SHORT_LINES_MAX)
  console.log(`${name}: ${graph.size} files, ${short.length} of up to ${SHORT_LINES_MAX} lines`)
  console.log(`  ${circles.length} circles${circles.map(circle => `\n    ${circle.join(' ')}`).join('')}`)
  console.log(
    `  ${upwards.length} imports upwards${upwards.map(([from, to]) => `\n    ${from} -> ${to}`).join('')}`
  )
  const modules = new Set([...graph.keys()].map(path => /^src\/modules\/([^/]+)\//.exec(path)?.[1] ?? ''))
  for (const module of [...modules].filter(each => each !== '')) {
    const pattern = new RegExp(`^src/modules/${module}/([^/]+)/`)
    const folders = new Set([...graph.keys()].map(path => pattern.exec(path)?.[1]))
    folders.delete(undefined)
    folders.delete('migrations')
    const pairs = pairsOf(graph, module)
    console.log(`  ${module}: ${folders.size} folders, ${pairs.length} pairs import each other`)
    if (process.env.PAIRS !== undefined) for (const pair of pairs) console.log(`    ${pair}`)
  }
}

const commits = process.argv.slice(2)
if (commits.length === 0) report('working tree', '.')
for (const commit of commits) {
  const folder = mkdtempSync(join(tmpdir(), 'cartwright-structure-'))
  try {
    const archive = execFileSync('git', ['archive', commit, 'src'], { maxBuffer: 1 << 28 })
    execFileSync('tar', ['-x', '-C', folder], { input: archive })
    report(commit, folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
