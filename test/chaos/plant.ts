import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { copyTree, withBug } from '../seeded-bugs/working-copy.ts'
import { seeds } from './seeds.ts'

// Plants each bug of `seeds.ts` in a copy of the working tree and runs a minute of chaos there with one process. Prints
// whether the report names the bug. Names as arguments choose seeds. Exit code 1 when a bug was not seen.

const OUTPUT_BYTES_MAX = 64 * 1_048_576
const ARGUMENTS = ['src/main.ts', 'chaos', '--minutes', '1', '--processes', '1', '--json']

/** The sentences of the report of one run. */
function brokenIn(copy: string): string[] {
  const { stdout, stderr, error } = spawnSync(process.execPath, ARGUMENTS, {
    cwd: copy,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX
  })
  if (error) throw error
  if (stdout === '') throw new Error(`chaos did not run: ${stderr}`)
  return JSON.parse(stdout).runs.flatMap(({ broken }: { broken: string[] }) => broken)
}

const names = process.argv.slice(2)
const chosen = names.length === 0 ? seeds : seeds.filter(({ name }) => names.includes(name))
const copy = copyTree()
try {
  let missed = 0
  for (const seed of chosen) {
    const startedAt = performance.now()
    const broken = withBug(copy, seed, () => brokenIn(copy))
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const seen = broken.find(sentence => sentence.includes(seed.seenAs))
    if (seen === undefined) missed += 1
    const verdict = seen ?? `NOT SEEN among ${broken.length} broken promises: ${broken.join('; ')}`
    console.log(`${seed.name}, after ${seconds} s: ${verdict}`)
  }
  console.log(`${chosen.length - missed} of ${chosen.length} seeded bugs were seen.`)
  process.exitCode = missed === 0 ? 0 : 1
} finally {
  rmSync(copy, { recursive: true, force: true })
}
