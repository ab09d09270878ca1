import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

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
