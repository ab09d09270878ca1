import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { seeds } from './seeds.ts'
import { copyTree, withBug } from './working-copy.ts'

// Plants each bug of `seeds.ts` in a copy of the working tree and says which test fails. Names as arguments choose seeds.

const OUTPUT_BYTES_MAX = 64 * 1_048_576

type Result = { testResults: { name: string; message?: string; assertionResults: Assertion[] }[] }
type Assertion = { status: string; fullName: string }

/** The tests that failed, by file and name. A file that cannot be loaded counts as a failure without a test. */
function failuresOf(copy: string, tests: readonly string[]): string[] {
  const report = join(copy, 'seeded-bugs.json')
  rmSync(report, { force: true })
  const run = spawnSync('vitest', ['run', ...tests, '--reporter=json', `--outputFile.json=${report}`], {
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

const names = process.argv.slice(2)
const chosen = names.length === 0 ? seeds : seeds.filter(({ name }) => names.includes(name))
const copy = copyTree()
try {
  const broken = failuresOf(copy, [...new Set(chosen.flatMap(({ tests }) => tests))])
  if (broken.length > 0) throw new Error(`these fail without any seed:\n${broken.join('\n')}`)
  let missed = 0
  for (const seed of chosen) {
    const [first, ...others] = withBug(copy, seed, () => failuresOf(copy, seed.tests))
    if (first === undefined) missed += 1
    const more = others.length === 0 ? '' : ` (and ${others.length} more)`
    console.log(`${seed.name}: ${first === undefined ? 'NOT CAUGHT' : `caught by ${first}${more}`}`)
  }
  console.log(`${chosen.length - missed} of ${chosen.length} seeded bugs are caught.`)
  process.exitCode = missed === 0 ? 0 : 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}
