import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { standardModules } from '../src/app.ts'
import { createCliProgram } from '../src/cli/program.ts'
import { loadConfig } from '../src/config.ts'
import { listDeclaredEvents } from '../src/kernel/events.ts'
import { listDeclaredPorts } from '../src/kernel/ports.ts'
import { MAIN, startProgram } from './support/program.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const PAGES = [
  'README.md',
  'ARCHITECTURE.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  ...(await readdir(join(ROOT, 'docs'), { recursive: true }))
    .filter(name => name.endsWith('.md'))
    .map(name => `docs/${name}`)
]
const pages = await Promise.all(
  PAGES.map(async path => ({ path, text: await readFile(join(ROOT, path), 'utf8') }))
)
const guides = pages.filter(
  ({ path }) => path === 'README.md' || /^docs\/(?:reference\/)?[^/]+\.md$/.test(path)
)
const blocksOf = (text: string, language: string) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(match =>
    String(match[1])
  )

/** The anchors of a page, as GitHub makes them of its headings. */
const anchorsOf = (text: string) =>
  [...text.matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
    title
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-')
  )

test.each(pages)(
  'every link in the guide $path leads to an existing file and heading',
  async ({ path, text }) => {
    const prose = text.replace(/^```[\s\S]*?^```/gm, '')
    const links = [...prose.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)]
    for (const [link, target = '', anchor] of links) {
      const file = target === '' ? path : join(dirname(path), target)
      expect(existsSync(join(ROOT, file)), link).toBe(true)
      if (anchor !== undefined)
        expect(anchorsOf(await readFile(join(ROOT, file), 'utf8')), link).toContain(anchor)
    }
  }
)

test.each(guides.filter(({ path }) => path !== 'README.md'))(
  'the guide $path names its kind in its first line',
  ({ text }) => {
    const [, first] = text.split(/\n+/)
    expect(first).toMatch(/^(?:Tutorial|How-to|Reference|Explanation): \S/)
  }
)

test('every how-to guide ends with a way to check the result', () => {
  const howTos = guides.filter(({ text }) => /^# .*\n+How-to: /.test(text))
  const unchecked = howTos.filter(
    ({ text }) => !/\bworked when\b|\bworks when\b|\n#+ Check\b|runs well when/.test(text)
  )
  expect(unchecked.map(({ path }) => path)).toEqual([])
  expect(howTos.length).toBeGreaterThan(15)
})

const CODE_PATH = /`((?:src|test|bench|tools|demo|examples|docs)\/[\w./-]+)`/g
const MAPS = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'README.md', 'docs/concepts.md', 'docs/internals.md']

test.each(pages.filter(({ path }) => MAPS.includes(path)))(
  'every path in the sources that the page $path names exists',
  ({ text }) => {
    const paths = [...text.matchAll(CODE_PATH)].map(([, path = '']) => path)
    expect(paths.filter(path => !existsSync(join(ROOT, path)))).toEqual([])
  }
)

test('docs/README.md lists every guide', () => {
  const index = pages.find(({ path }) => path === 'docs/README.md')?.text ?? ''
  const names = guides.map(({ path }) => path.replace('docs/', '')).filter(name => name !== 'README.md')
  expect(names.filter(name => !index.includes(`](${name})`))).toEqual([])
})

const config = loadConfig(standardModules, {}) as unknown as Record<string, Record<string, unknown>>
/** Names of modules that are examples. */
const EXAMPLES = ['acme_parcels', 'gift_cards', 'wishlist']
const SECTIONS = Object.keys(config).join('|')
/** Events, ports and files are written as settings are: `orders.erased`, `orders.tender`, `events.ts`. */
const OTHERS = new Set<string>([...listDeclaredEvents(), ...listDeclaredPorts()].map(({ name }) => name))

/** The first column of the glossary has former names, and its rows of columns have names of columns. */
const withoutOldNames = (path: string, text: string) =>
  path === 'docs/glossary.md' ? text.replace(/^\|.*\| columns.*$/gm, '').replace(/^\|[^|]*\|/gm, '|') : text

test.each(guides)('the settings that the guide $path names exist', ({ path, text }) => {
  const current = withoutOldNames(path, text)
  const named = [...current.matchAll(new RegExp(`\`((?:${SECTIONS})(?:\\.[a-z_]+)+)(?:: [^\`]*)?\``, 'g'))]
  const settings = named.map(([, key = '']) => key).filter(key => !OTHERS.has(key) && !key.endsWith('.ts'))
  for (const key of settings) expect(config, key).toHaveProperty(key)
  const variables = [...text.matchAll(/\bCARTWRIGHT__([A-Z_]+)/g)]
  for (const [, name = ''] of variables)
    expect(config).toHaveProperty(name.toLowerCase().replaceAll('__', '.'))
  for (const block of blocksOf(text, 'yaml')) {
    const keyPaths = Object.entries<object>(parse(block)).flatMap(([section, keys]) =>
      Object.keys(keys).map(key => [section, key])
    )
    for (const keys of keyPaths.filter(names => !names.some(name => EXAMPLES.includes(name))))
      expect(config, keys.join('.')).toHaveProperty(keys)
  }
})

test.each(guides)('the command line accepts the commands in the guide $path', async ({ text }) => {
  const lines = blocksOf(text, 'sh').flatMap(block => [...block.matchAll(/npm run cartwright -- ([^#\n]*)/g)])
  for (const [, line = ''] of lines) {
    const called: string[] = []
    const program = createCliProgram()
    for (const command of [...program.commands, ...program.commands.flatMap(each => each.commands)])
      command.exitOverride().action(() => {
        called.push(command.name())
      })
    await program.parseAsync(line.trim().split(/\s+/), { from: 'user' })
    expect(called, line).toHaveLength(1)
  }
})

test('following the backup guide restores products, accounts and sessions from a backup of a running shop', {
  timeout: 90_000
}, async () => {
  const { text = '' } = pages.find(({ path }) => path === 'docs/backup.md') ?? {}
  const [backup = '', restore = ''] = blocksOf(text, 'sh')
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-a shop-'))
  await chmod(folder, 0o755)
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  const inFolder = (commands: string) =>
    execFileSync(
      'sh',
      ['-ec', commands.replaceAll('npm run cartwright --', `'${process.execPath}' '${MAIN}'`)],
      // A shop of its own, whatever server the tests were given.
      { cwd: folder, stdio: 'pipe', env: { PATH: process.env.PATH, HOME: process.env.HOME } }
    )
  const startWith = (settings: Record<string, string>) => {
    const { child, listening, ended } = startProgram(settings, { cwd: folder })
    const stop = async () => {
      child.kill('SIGTERM')
      return (await ended).stdout
    }
    onTestFinished(async () => void (await stop()))
    return { listening, stop }
  }

  const shop = startWith({})
  const post = async (path: string, body: object) => {
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
    return (await answer.json()) as Record<string, unknown>
  }
  const account = { email: 'ada@example.com', password: 'a long engine poem' }
  const { access_token, refresh_token } = await post(`${await shop.listening}/api/auth/register`, account)
  inFolder(backup)
  await shop.stop()
  inFolder(restore.replace('npm start', ''))
  const restored = startWith({ CARTWRIGHT_DATA: '.data-restored' })
  const address = await restored.listening
  expect((await fetch(`${address}/api/products/fika-mug`)).status).toBe(200)
  const authorization = `Bearer ${access_token}`
  // The secrets came along: what they signed still counts.
  expect((await fetch(`${address}/api/cart`, { headers: { authorization } })).status).toBe(200)
  expect(await post(`${address}/api/auth/refresh`, { refresh_token })).toHaveProperty('access_token')
  expect(await restored.stop()).not.toContain('Password')
})
