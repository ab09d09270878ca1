import { execFileSync } from 'node:child_process'
import { appendFile, cp, mkdir, mkdtemp, readdir, rename, rm, symlink, utimes } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase } from './support/database.ts'
import { startProgram } from './support/program.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const COPIED = ['src', 'docs', 'demo', 'tools', 'package.json', 'package-lock.json']
const BUNDLE = 'node_modules/.cache/program/main.mjs'

/** A copy of the project, with the same packages. */
let project: string
beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'cartwright a checkout-'))
  for (const entry of COPIED) await cp(join(ROOT, entry), join(project, entry), { recursive: true })
  const modules = join(project, 'node_modules')
  await mkdir(modules)
  for (const name of await readdir(join(ROOT, 'node_modules')))
    if (!name.startsWith('.')) await symlink(join(ROOT, 'node_modules', name), join(modules, name))
  return () => rm(project, { recursive: true, force: true })
})

/** What `npm start` would start, once whatever is made beside it is made. */
function programToStart(): string {
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  const script = '. tools/program.sh && echo "$PROGRAM" && wait'
  return execFileSync('sh', ['-ec', script], { cwd: project, env: { PATH }, encoding: 'utf8' }).trim()
}

test('a start builds the bundle that the next start runs, until a source file changes', async () => {
  expect(programToStart()).toBe('src/main.ts')
  expect(programToStart()).toBe(BUNDLE)

  const database = await createTestDatabase()
  onTestFinished(database.drop)
  const program = startProgram({ DATABASE_URL: database.url }, { main: join(project, BUNDLE) })
  onTestFinished(async () => {
    program.child.kill()
    await program.ended
  })
  const address = await program.listening
  const statusOf = async (path: string, method = 'GET') => (await fetch(address + path, { method })).status
  // Migrations, guides, packages, and the file of the demo.
  for (const path of ['/readyz', '/guides/money.md', '/docs', '/api/products'])
    expect([path, await statusOf(path)]).toEqual([path, 200])
  // The router is told less at the start.
  expect([
    await statusOf('/guides/none.md'),
    await statusOf('/guides/money.md', 'HEAD'),
    await statusOf('/api/products/none'),
    await statusOf('/api/products/none', 'PUT')
  ]).toEqual([404, 200, 404, 405])

  // The lock file says which packages are in the bundle. A copy from elsewhere may be as old as what it replaces.
  const source = join(project, 'src/modules/cart/index.ts')
  const changes: Record<string, () => Promise<void>> = {
    'another source': () => appendFile(source, '\n'),
    'an older source': () => copyOver(source),
    'another lock file': () => copyOver(join(project, 'package-lock.json')),
    'a source less': () => rm(join(project, 'src/modules/catalog/fake.ts')),
    'another folder': async () => {
      await rename(project, `${project} moved`)
      project = `${project} moved`
    }
  }
  for (const [what, change] of Object.entries(changes)) {
    await change()
    expect([what, programToStart()]).toEqual([what, 'src/main.ts'])
    expect([what, programToStart()]).toEqual([what, BUNDLE])
  }
})

/** Replaces a file by a copy whose time of change is a month earlier. */
async function copyOver(file: string): Promise<void> {
  const time = new Date(Date.now() - 30 * 86_400_000)
  await cp(file, `${file}.copy`)
  await utimes(`${file}.copy`, time, time)
  await rename(`${file}.copy`, file)
}
