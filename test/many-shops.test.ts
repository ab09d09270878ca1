import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { MAIN, startProgram } from './support/program.ts'
import { testKey } from './support/secrets.ts'
import { type TestCluster, useCluster } from './support/standby.ts'

const guide = await readFile(new URL('../docs/many-shops.md', import.meta.url), 'utf8')
const blocksOf = (language: string) =>
  [...guide.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))].map(([, code = '']) => code)
const ADA = { email: 'ada@example.com', password: 'a long engine poem' }

/** Creates the role and the database of a shop by the SQL of the guide. Returns the URL. */
async function createDatabase({ host, sql }: TestCluster, shop: string): Promise<string> {
  const [code = ''] = blocksOf('sql')
  for (const statement of code.trim().split('\n')) await sql(statement.replaceAll('mugs', shop), 'template1')
  return `postgres://${shop}:${encodeURIComponent('a long secret')}@${host}/${shop}`
}

async function useFolder() {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-shops-'))
  await chmod(folder, 0o755)
  onTestFinished(() => rm(folder, { recursive: true }))
  await mkdir(join(folder, 'shops'))
  return {
    writeSettings: (shop: string, settings: Record<string, string>) =>
      writeFile(
        join(folder, 'shops', `${shop}.env`),
        Object.entries(settings)
          .map(([name, value]) => `${name}='${value}'\n`)
          .join('')
      ),
    run: (commands: string, env: Record<string, string> = {}) =>
      promisify(execFile)(
        'sh',
        ['-euc', commands.replaceAll('npm run cartwright --', `'${process.execPath}' '${MAIN}'`)],
        { cwd: folder, env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env } }
      )
  }
}

async function start(settings: Record<string, string>) {
  const { child, listening, ended } = startProgram(settings)
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  onTestFinished(stop)
  const origin = await listening
  const send = async (method: string, path: string, { body, token }: { body?: object; token?: string }) => {
    const response = await fetch(`${origin}/api${path}`, {
      method,
      headers: {
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { 'content-type': 'application/json' })
      },
      body: body ? JSON.stringify(body) : null
    })
    return { status: response.status, json: (await response.json()) as Record<string, unknown> }
  }
  return { stop, send }
}

test('the guide for many shops creates a shop beside another one, upgrades both, and moves one with its customers', {
  timeout: 120_000
}, async () => {
  const [server, otherServer] = [await useCluster(), await useCluster()]
  const { writeSettings, run } = await useFolder()
  const settingsOf = (url: string, key: string) => ({
    DATABASE_URL: url,
    CARTWRIGHT__SECRETS__KEYS: JSON.stringify([testKey(key)])
  })
  const mugs = settingsOf(await createDatabase(server, 'mugs'), 'mugs')
  const books = settingsOf(await createDatabase(server, 'books'), 'books')
  await writeSettings('mugs', mugs)
  await writeSettings('books', books)
  const [move = '', upgrade = ''] = blocksOf('sh')
  await run(upgrade)

  const [before, beside] = [await start(mugs), await start(books)]
  const token = String((await before.send('POST', '/auth/register', { body: ADA })).json.access_token)
  // No account and no token of one shop is valid in the other.
  expect((await beside.send('POST', '/auth/login', { body: ADA })).status).toBe(401)
  expect((await beside.send('GET', '/auth/me', { token })).status).toBe(401)

  await before.stop()
  const moved = await createDatabase(otherServer, 'mugs')
  await run(move, { NEW_DATABASE_URL: moved })
  const after = await start({ ...mugs, DATABASE_URL: moved })
  expect((await after.send('GET', '/auth/me', { token })).json).toMatchObject({ email: ADA.email })
  expect((await after.send('POST', '/auth/login', { body: ADA })).status).toBe(200)
  expect((await beside.send('GET', '/products', {})).status).toBe(200)
})
