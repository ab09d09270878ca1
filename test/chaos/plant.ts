import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { seeds } from './seeds.ts'

// By hand: `npm run chaos:seeds`, or with names of seeds behind it. Plants each bug in a copy of the working tree, runs a minute of
// chaos there with one process, and says whether the report names it. Exit code 1 when a bug was not seen.

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const OUTPUT_BYTES_MAX = 64 * 1_048_576
const ARGUMENTS = ['src/main.ts', 'chaos', '--minutes', '1', '--processes', '1', '--json']

function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'cartwright-chaos-seeds-'))
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX
  })
  for (const path of listed.stdout.split('\0').filter(path => path !== ''))
    cpSync(join(ROOT, path), join(copy, path), { force: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

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
let missed = 0
try {
  for (const { name, file, find, replace, seenAs } of chosen) {
    const path = join(copy, file)
    const original = readFileSync(path, 'utf8')
    writeFileSync(
      path,
      original.replace(find, () => replace)
    )
    const startedAt = performance.now()
    const broken = brokenIn(copy)
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    writeFileSync(path, original)
    const seen = broken.find(sentence => sentence.includes(seenAs))
    if (seen === undefined) missed += 1
    console.log(
      `${name}, after ${seconds} s: ${seen ?? `NOT SEEN among ${broken.length} broken promises: ${broken.join('; ')}`}`
    )
  }
} finally {
  rmSync(copy, { recursive: true, force: true })
}
console.log(`${chosen.length - missed} of ${chosen.length} seeded bugs were seen.`)
process.exitCode = missed === 0 ? 0 : 1
