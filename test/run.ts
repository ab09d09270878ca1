import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { changesIn } from './lanes/changed.ts'
import { readImports } from './lanes/imports.ts'
import { isTest, lanesOf } from './lanes/lanes.ts'
import { selectTests } from './lanes/selection.ts'

// `npm test`: everything but the long lane. `npm run test:long` (`--long`): the long lane, and expensive cases of other files.
// `npm run test:fast` (`--fast`): types, what has changed, and all tests of units.

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PROGRESS_MS = 10_000
const TICKS_A_SECOND = 100
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

type Step = { name: string; command: string; args: string[]; env?: NodeJS.ProcessEnv }

/** CPU seconds of all processes that this one has started and that have ended, with those that they started; Linux only. */
function childrenSeconds(): number | undefined {
  if (process.platform !== 'linux') return undefined
  const stat = readFileSync('/proc/self/stat', 'utf8')
  // proc(5): `cutime` and `cstime` are fields 16 and 17; the name of the program ends with the last bracket.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[13]) + Number(fields[14])) / TICKS_A_SECOND
}

function cpuSeconds(): number | undefined {
  const children = childrenSeconds()
  const { user, system } = process.cpuUsage()
  return children === undefined ? undefined : children + (user + system) / 1_000_000
}

const startedAt = performance.now()
const wall = (since = startedAt) => Math.round((performance.now() - since) / 1_000)

function report(name: string, since: number, cpuBefore: number | undefined): void {
  const cpu = cpuSeconds()
  const used =
    cpu === undefined || cpuBefore === undefined
      ? 'CPU time is counted on Linux only'
      : `${(cpu - cpuBefore).toFixed(1)} CPU-seconds`
  console.log(`${name}: ${used}, ${wall(since)} s`)
}

/** Runs one step to its end; answers its exit code. Whatever ends this process ends the step. */
async function run({ name, command, args, env }: Step): Promise<number> {
  const [since, cpuBefore] = [performance.now(), cpuSeconds()]
  const isTests = command === 'vitest'
  console.log(`${name} ...`)
  // The channel tells vitest when this process is gone.
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['inherit', 'inherit', 'inherit', 'ipc']
  })
  const forward = (signal: NodeJS.Signals) => child.kill(signal)
  for (const signal of SIGNALS) process.on(signal, forward)
  const progress = isTests ? undefined : setInterval(() => console.log(`[${wall()} s] ${name}`), PROGRESS_MS)
  const code = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? (signal === null ? 1 : 130)))
  })
  clearInterval(progress)
  for (const signal of SIGNALS) process.off(signal, forward)
  report(name, since, cpuBefore)
  return code
}

const TYPES: Step = {
  name: 'Types',
  command: 'tsc',
  // Several threads check much of it more than once: 14 CPU-seconds instead of 7, and no sooner (2026-11).
  args: [
    '--noEmit',
    '--singleThreaded',
    '--incremental',
    '--tsBuildInfoFile',
    'node_modules/.cache/types.tsbuildinfo'
  ]
}
const everything = (): Step[] => [
  TYPES,
  { name: 'Lint', command: 'biome', args: ['check', '.'] },
  { name: 'Unused code', command: 'knip', args: [] },
  { name: 'Tests', command: 'vitest', args: ['run', '--project=!long'] }
]
const long = (): Step[] => [
  { name: 'Long tests', command: 'vitest', args: ['run', '--project=long'] },
  {
    name: 'Files with expensive cases',
    command: 'vitest',
    args: ['run', ...filesWithExpensiveCases()],
    env: { EVERY_CASE: '1' }
  },
  { name: '20,000 generated requests', command: 'vitest', args: ['run', 'test/fuzz'], env: { FUZZ: '20000' } }
]

function filesWithExpensiveCases(): string[] {
  const imports = readImports(ROOT)
  const { long, ...others } = lanesOf(imports)
  return Object.values(others)
    .flat()
    .filter(path => imports.reach(path, isTest).has('test/lanes/every-case.ts'))
}

function fast(): Step[] {
  const imports = readImports(ROOT)
  const lanes = lanesOf(imports)
  const { since, paths } = changesIn(ROOT)
  const { tests, uncovered } = selectTests(paths, lanes, imports)
  const others = tests.length - lanes.unit.length
  console.log(
    `${paths.length} files have changed since ${since}: ${lanes.unit.length} test files of units and ${others} others.`
  )
  if (uncovered.length > 0)
    console.log(`No test of this selection is about these; npm test runs all:\n  ${uncovered.join('\n  ')}`)
  const lint = [
    'check',
    '--no-errors-on-unmatched',
    '--files-ignore-unknown=true',
    ...paths.filter(path => existsSync(`${ROOT}/${path}`))
  ]
  return [
    TYPES,
    ...(paths.length === 0 ? [] : [{ name: 'Lint of what has changed', command: 'biome', args: lint }]),
    { name: 'Tests', command: 'vitest', args: ['run', ...tests] }
  ]
}

mkdirSync(`${ROOT}/node_modules/.cache`, { recursive: true })
const steps = { '--fast': fast, '--long': long }[process.argv[2] ?? ''] ?? everything
for (const step of steps()) {
  process.exitCode = await run(step)
  if (process.exitCode !== 0) break
}
report('Altogether', startedAt, childrenSeconds() === undefined ? undefined : 0)
