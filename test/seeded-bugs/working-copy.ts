import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A bug to plant: `find` occurs exactly once in `file`, and `replace` breaks the promise. */
export type Bug = {
  readonly name: string
  /** What customers or operators rely on, and what the bug takes away. */
  readonly promise: string
  readonly file: string
  readonly find: string
  readonly replace: string
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const OUTPUT_BYTES_MAX = 64 * 1_048_576

/** Copies the working tree into a temporary folder, which the caller removes. */
export function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'cartwright-seeds-'))
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX
  })
  // A link to a folder counts as a folder.
  for (const path of listed.stdout.split('\0').filter(path => path !== ''))
    cpSync(join(ROOT, path), join(copy, path), { force: true, recursive: true, verbatimSymlinks: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

/** Whether the code of the bug occurs exactly once. */
export const isPlantable = (copy: string, { file, find }: Bug): boolean =>
  existsSync(join(copy, file)) && readFileSync(join(copy, file), 'utf8').split(find).length === 2

/** Plants the bug in the copy while `work` runs. */
export function withBug<T>(copy: string, { file, find, replace }: Bug, work: () => T): T {
  const path = join(copy, file)
  const original = readFileSync(path, 'utf8')
  writeFileSync(
    path,
    original.replace(find, () => replace)
  )
  try {
    return work()
  } finally {
    writeFileSync(path, original)
  }
}
