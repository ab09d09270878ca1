import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { loadDemoCatalogIntoEmptyShop } from '../../src/cli/first-start.ts'
import { createTestApp } from '../support/app.ts'
import { MAIN } from '../support/program.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import { readSources } from '../support/source-files.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const ADDRESS = 'http://127.0.0.1:8080'
/** What waits for a mail in vain does so no longer than this. */
const PATIENCE_MS = 240_000
const PASSWORD = 'nine lives and a piano'

/** Guides whose commands another test runs, because they need more than a shop that is there. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'adding-a-module.md': 'test/adding-a-module.test.ts',
  'backup.md': 'test/guides.test.ts',
  'chaos.md': 'test/chaos/chaos.test.ts',
  'deploying.md': 'test/deploy/image.test.ts',
  'many-shops.md': 'test/many-shops.test.ts',
  'publishing-a-module.md': 'test/package.test.ts',
  'storefront.md': 'test/openapi-tools.test.ts',
  'tutorial.md': 'test/package.test.ts',
  'workers.md': 'test/workers.test.ts'
}
/** What starts a shop, or tests it: the shop is there already. */
const STARTS = /^.*\bnpm (?:start|test)\b.*$/gm

const names = ['README.md', ...(await readdir(join(ROOT, 'docs'))).filter(name => /^[a-z-]+\.md$/.test(name))]
const guides = await Promise.all(
  names.map(async name => ({
    name,
    text: await readFile(join(ROOT, name === 'README.md' ? '' : 'docs', name), 'utf8')
  }))
)
const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) => code)

const withShell = guides.filter(({ name, text }) => blocksOf(text, 'sh').length > 0 && !(name in ELSEWHERE))

test.each(withShell)(
  'the shell code of the guide $name runs from its first line to its last',
  { timeout: PATIENCE_MS },
  async ({ name, text }) => {
    const app = await createTestApp({ CARTWRIGHT__SHOP__NAME: 'Corner' })
    onTestFinished(() => app.close())
    const origin = await app.listen()
    await loadDemoCatalogIntoEmptyShop(app, 'USD', origin)
    // Whom the guide calls Ada is there already, where it does not make her account itself.
    if (!text.includes('/auth/register'))
      await app
        .as(null)
        .post('/api/auth/register', { email: 'ada@example.com', password: 'a long engine poem' })
    const folder = await mkdtemp(join(tmpdir(), 'cartwright-guide-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await copyFile(join(ROOT, 'demo/catalog.csv'), join(folder, 'products.csv'))

    const commands = blocksOf(text, 'sh')
      .join('\n')
      .replace(STARTS, '')
      .replaceAll(ADDRESS, origin)
      .replaceAll('npm run cartwright --', `node '${MAIN}'`)
    const script = join(folder, 'guide.sh')
    // What asks for a password reads it from a file, as it would from a terminal.
    const input = join(folder, 'input')
    await writeFile(input, `${PASSWORD}\n`)
    await writeFile(script, `exec < '${input}'\n${commands}`)
    // The README is pasted into any shell.
    const shell = name === 'README.md' ? ['sh', '-eu'] : ['bash', '-euo', 'pipefail']
    const [program = '', ...flags] = shell
    const running = promisify(execFile)(program, [...flags, script], {
      cwd: folder,
      timeout: PATIENCE_MS,
      env: {
        ...process.env,
        ...SECRET_SETTINGS,
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        DATABASE_URL: app.databaseUrl,
        CARTWRIGHT__LOG__LEVEL: 'silent',
        ADMIN_PASSWORD: PASSWORD
      }
    })
    await running.catch(({ stdout, stderr }) => {
      throw new Error(`${name}: ${stdout}\n${stderr}`)
    })
  }
)

/** Languages of which a reader takes the code over. */
const CODE = ['js', 'ts']
const sources = (await readSources()).filter(({ path }) => path.endsWith('.test.ts'))

test.each(guides.filter(({ text }) => CODE.some(language => blocksOf(text, language).length > 0)))(
  'the code of the guide $name is run by a test',
  ({ name }) => {
    const running = sources.filter(
      ({ path, text }) => path !== 'test/guides/shell.test.ts' && new RegExp(`['/]${name}['\`]`).test(text)
    )
    expect(running.map(({ path }) => path)).not.toEqual([])
  }
)

test('the test that runs the code of a guide elsewhere exists', () => {
  const paths = sources.map(({ path }) => path)
  for (const [guide, path] of Object.entries(ELSEWHERE)) expect(paths, guide).toContain(path)
})

/** A method and a path as prose and code blocks write them: `PUT /api/cart/items/:variantId`. */
const REQUEST = /\b(GET|POST|PUT|PATCH|DELETE)\s+(\/api\/[\w/:{}.-]*[\w}])/g

test('every request that a guide names has a route', async () => {
  const { paths } = JSON.parse(await readFile(join(ROOT, 'openapi.json'), 'utf8')) as {
    paths: Record<string, object>
  }
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map(method => ({
      method: method.toUpperCase(),
      pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)
    }))
  )
  const unknown = guides.flatMap(({ name, text }) =>
    [...text.matchAll(REQUEST)]
      .filter(
        ([, method, path = '']) => !routes.some(each => each.method === method && each.pattern.test(path))
      )
      .map(([request]) => `${name}: ${request}`)
  )
  expect(unknown).toEqual([])
})
