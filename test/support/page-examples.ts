import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished } from 'vitest'

type Options = { origin: string; tells: readonly string[]; env?: Record<string, string> }

/** Runs the JavaScript of a page of `docs`, one example after the other, and answers what the names in `tells` stand for then. */
export async function runExamples(page: string, { origin, tells, env = {} }: Options) {
  const text = await readFile(new URL(`../../docs/${page}`, import.meta.url), 'utf8')
  const examples = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code = '']) => code)
  expect(examples.length).toBeGreaterThan(5)
  const program = examples.join('\n').replace('http://127.0.0.1:8080', origin)
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-page-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'examples.mjs')
  await writeFile(file, `${program}\nconsole.log(JSON.stringify({ ${tells.join(', ')} }))\n`)
  const { stdout } = await promisify(execFile)(process.execPath, [file], { env })
  return JSON.parse(stdout)
}
