import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Seed, seeds } from './seeds.ts'
import { copyTree, isPlantable, withBug } from './working-copy.ts'

// Plants each bug of `seeds.ts` in a copy of the working tree and prints which test fails. Names as arguments choose seeds.
// Exit code 1 when a bug is missed or cannot be planted, or when a test that caught one also fails without it.

const OUTPUT_BYTES_MAX = 64 * 1_048_576

type Result = { testResults: { name: string; message?: string; assertionResults: Assertion[] }[] }
type Assertion = { status: string; fullName: string }

/** The tests that failed, by file and name. Stops at the first one. @throws when a file cannot be loaded. */
function failuresIn(copy: string, files: readonly string[]): string[] {
  const report = join(copy, 'seeded-bugs.json')
  rmSync(report, { force: true })
  const options = ['--bail=1', '--retry=0', '--reporter=json', `--outputFile.json=${report}`]
  const run = spawnSync('vitest', ['run', ...files, ...options], {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX
  })
  if (run.error) throw run.error
  const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as Result
  if (testResults.length === 0) throw new Error(`no test ran: ${run.stdout}${run.stderr}`)
  return testResults.flatMap(({ name, message, assertionResults }) => {
    const failed = assertionResults.filter(({ status }) => status === 'failed')
    const file = name.replace(`${copy}/`, '')
    if (assertionResults.length === 0) throw new Error(`${file} does not load: ${message}`)
    return failed.map(({ fullName }) => `${file}: ${fullName}`)
  })
}

/** The first failing test, and its file. The files run one after the other, so that a quick one spares the others. */
function firstFailure(copy: string, { tests }: Seed) {
  for (const file of tests) {
    const [test] = failuresIn(copy, [file])
    if (test !== undefined) return { file, test }
  }
  return undefined
}

const names = process.argv.slice(2)
const unknown = names.filter(name => !seeds.some(seed => seed.name === name))
if (unknown.length > 0) throw new Error(`no such seed: ${unknown.join(', ')}`)
const chosen = names.length === 0 ? seeds : seeds.filter(({ name }) => names.includes(name))
const copy = copyTree()
try {
  const catching = new Set<string>()
  let caught = 0
  for (const seed of chosen) {
    const startedAt = performance.now()
    const print = (verdict: string) => {
      const seconds = Math.round((performance.now() - startedAt) / 1_000)
      console.log(`${seed.name}, ${seconds} s: ${verdict}`)
    }
    if (!isPlantable(copy, seed)) {
      print('COULD NOT BE PLANTED')
      continue
    }
    const failure = withBug(copy, seed, () => firstFailure(copy, seed))
    if (failure !== undefined) catching.add(failure.file)
    if (failure !== undefined) caught += 1
    print(failure === undefined ? 'MISSED' : `caught by ${failure.test}`)
  }
  const broken = catching.size === 0 ? [] : failuresIn(copy, [...catching])
  for (const test of broken) console.log(`fails without any seed: ${test}`)
  console.log(`${caught} of ${chosen.length} seeded bugs are caught.`)
  process.exitCode = caught === chosen.length && broken.length === 0 ? 0 : 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}
