import { existsSync } from 'node:fs'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { runCommandLine } from '../../../test/support/command.ts'
import { createTestDatabase } from '../../../test/support/database.ts'
import { SECRET_SETTINGS } from '../../../test/support/secrets.ts'
import { runSql } from '../../../test/support/sql.ts'
import { standardModules } from '../../app.ts'
import { loadConfig } from '../../config.ts'
import { lockFolder } from '../../embedded-postgres/folder-lock.ts'
import { checkDatabaseClock, checkDiskSpace, checkOpenFilesLimit } from './checks.ts'
import { diagnose } from './doctor.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

/** Findings that are wrong or a warning, by subject. */
async function complaints(settings: Record<string, string>, attachMsMax?: number) {
  const found: Record<string, string> = {}
  const environment = { DATABASE_URL: database.url, ...SECRET_SETTINGS, ...settings }
  for await (const { about, state, detail, advice } of diagnose(standardModules, environment, attachMsMax))
    if (state !== 'ok') found[about] = `${state}: ${detail} ${advice ?? ''}`
  return found
}

/** A server that never responds, and a port without a listener. */
async function useSilence(): Promise<{ port: number; server: Server }> {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  return { port: (server.address() as { port: number }).port, server }
}

async function closedPort(): Promise<number> {
  const { port, server } = await useSilence()
  await new Promise(resolve => server.close(resolve))
  return port
}

test('the command "doctor" finds no problem in a healthy shop and exits with code 0', async () => {
  const { code, out } = await runCommandLine(['doctor', '--json'], {
    settings: { DATABASE_URL: database.url }
  })
  const { ok, findings } = JSON.parse(out)
  expect({ code, ok }).toEqual({ code: 0, ok: true })
  expect(findings.map((each: { state: string }) => each.state)).not.toContain('warning')
  expect(findings.map((each: { about: string }) => each.about)).toEqual(
    expect.arrayContaining([
      'configuration',
      'secrets',
      'open files',
      'cache',
      'payments',
      'mails',
      'database',
      'schema',
      'clock',
      'tax on shipping'
    ])
  )
})

test("an invalid configuration is doctor's only finding, with the nearest valid key and exit code 1", async () => {
  const { code, out } = await runCommandLine(['doctor'], { settings: { CARTWRIGHT__SERVER__PROT: '1' } })
  expect(code).toBe(1)
  expect(out).toMatch(/^WRONG +configuration: .*\n.*server\.prot \(did you mean port\?\)/)
})

test('doctor reports contradictory settings with the setting to change', async () => {
  const found = await complaints({
    NODE_ENV: 'production',
    CARTWRIGHT__SERVER__PUBLIC_URL: 'https://shop.example.com',
    CARTWRIGHT__SHOP__DEMO: 'on',
    CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY: 'sk_test_1',
    CARTWRIGHT__PAYMENTS__STRIPE__WEBHOOK_SECRETS: '[whsec_1]',
    CARTWRIGHT__AUTH__EMAIL_DOMAINS: '[example.com]',
    CARTWRIGHT_ADMIN_EMAIL: 'boss@example.com',
    CARTWRIGHT_ADMIN_PASSWORD: 'seven quiet tubas'
  })
  expect(found).toEqual({
    proxy: expect.stringContaining('server.trust_proxy: true'),
    demo: expect.stringContaining('shop.demo: off'),
    payments: expect.stringContaining('sk_live_'),
    registration: expect.stringContaining('auth.registration: invite'),
    mails: expect.stringContaining('CARTWRIGHT__NOTIFICATIONS__SMTP__URL')
  })
  // The start creates the administrator of the configuration.
  expect(await runSql(database.url, 'select id from auth.users')).toEqual([])
})

test('doctor warns in production when administrators can log in with a password alone', async () => {
  const own = await createTestDatabase()
  onTestFinished(own.drop)
  await runSql(
    own.url,
    `insert into auth.users (id, email, role) values (gen_random_uuid(), 'boss@example.com', 'admin')`
  )
  const shop = { NODE_ENV: 'production', DATABASE_URL: own.url }
  expect(await complaints(shop)).toMatchObject({
    'second factor': expect.stringContaining('Set auth.require_second_factor: true.')
  })
  expect(await complaints({ ...shop, CARTWRIGHT__AUTH__REQUIRE_SECOND_FACTOR: 'true' })).not.toHaveProperty(
    'second factor'
  )
})

test('doctor distinguishes servers that hang, refuse or are unreachable from servers that respond', async () => {
  const hanging = await useSilence()
  onTestFinished(() => void hanging.server.close())
  const closed = await closedPort()
  const found = await complaints({
    REDIS_URL: `redis://127.0.0.1:${hanging.port}`,
    CARTWRIGHT__NOTIFICATIONS__SMTP__URL: `smtp://127.0.0.1:${closed}`,
    CARTWRIGHT__NOTIFICATIONS__FROM: 'shop@example.com',
    CARTWRIGHT__AUTH__ISSUERS: `[{ issuer: 'http://127.0.0.1:${closed}', audience: shop }]`
  })
  expect(found).toEqual({
    cache: expect.stringContaining('no response within 3 s'),
    mails: expect.stringContaining('ECONNREFUSED'),
    [`issuer http://127.0.0.1:${closed}`]: expect.stringContaining('auth.issuers')
  })
})

test('doctor reports settings that the start rejects, with the same message as the start', async () => {
  const found = await complaints({
    NODE_ENV: 'production',
    CARTWRIGHT__SECRETS__KEYS: '[]',
    CARTWRIGHT__PAYMENTS__SANDBOX__MODE: 'on',
    CARTWRIGHT__NOTIFICATIONS__SMTP__URL: 'mail.example.org:25'
  })
  expect(Object.keys(found)).toEqual(['configuration'])
  for (const key of ['secrets.keys', 'payments.sandbox.mode', 'notifications.smtp.url', 'notifications.from'])
    expect(found.configuration).toContain(`\n  ${key}: must`)
})

test('doctor reports a read-only, older or newer database and does not change it', async () => {
  const own = await createTestDatabase()
  onTestFinished(own.drop)
  const name =
    new URL(own.url.replace(/^socket:/, 'http://x')).searchParams.get('db') ??
    new URL(own.url).pathname.slice(1)
  const forget = `delete from cartwright.migrations where module = 'cart' and name like '0001%' returning *`
  const [row] = await runSql(own.url, forget)
  expect(await complaints({ DATABASE_URL: own.url })).toEqual({
    schema: expect.stringContaining('older than this program: 1 migration pending')
  })
  await runSql(own.url, 'insert into cartwright.migrations (module, name, checksum) values ($1, $2, $3)', [
    'cart',
    row?.name,
    row?.checksum
  ])
  await runSql(
    own.url,
    `insert into cartwright.migrations (module, name, checksum) values ('cart', '9999_later.sql', '')`
  )
  await runSql(own.url, `alter database ${name} set default_transaction_read_only = on`)
  expect(await complaints({ DATABASE_URL: own.url })).toEqual({
    schema: expect.stringContaining('migrated by a newer version'),
    writing: expect.stringContaining('default_transaction_read_only')
  })
})

test('doctor reports a missing database, and the process that holds a locked data folder', async () => {
  const nowhere = `postgres://nobody@127.0.0.1:${await closedPort()}/none`
  expect(await complaints({ DATABASE_URL: nowhere })).toEqual({
    database: expect.stringMatching(/^wrong: .*ECONNREFUSED.*Check DATABASE_URL/)
  })

  const folder = await mkdtemp(join(tmpdir(), 'cartwright-doctor-'))
  // Only its owner could read it, and when the tests run as root, the database runs as another user.
  await chmod(folder, 0o755)
  const lock = lockFolder(folder)
  onTestFinished(async () => {
    lock?.release()
    await rm(folder, { recursive: true })
  })
  const held = await complaints({ DATABASE_URL: '', CARTWRIGHT_DATA: folder }, 500)
  expect(held.database).toContain(`process ${process.pid}`)
})

test('doctor finds no problem in a shop that was never started, and creates nothing', async () => {
  const folder = join(await mkdtemp(join(tmpdir(), 'cartwright-doctor-')), 'data')
  onTestFinished(() => rm(join(folder, '..'), { recursive: true }))
  const settings = { DATABASE_URL: '', CARTWRIGHT__SECRETS__KEYS: '[]', CARTWRIGHT_DATA: folder }
  expect(await complaints(settings)).toEqual({})
  expect(existsSync(folder)).toBe(false)
})

test('doctor reports an unusable data folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-doctor-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const file = join(folder, 'file')
  await writeFile(file, '')
  const found = await complaints({ DATABASE_URL: '', CARTWRIGHT_DATA: file })
  expect(found.database).toMatch(/^wrong: /)
  const below = await complaints({ DATABASE_URL: '', CARTWRIGHT_DATA: join(file, 'data') })
  expect(below.database).toMatch(/^wrong: /)
})

test('doctor reports a full disk and a wrong clock', () => {
  expect(checkDiskSpace('.data', 0)).toMatchObject({
    state: 'wrong',
    detail: expect.stringContaining('full')
  })
  expect(checkDiskSpace('.data', 1_000_000)).toMatchObject({ state: 'warning' })
  expect(checkDiskSpace('.data', 10_000_000_000)).toMatchObject({ state: 'ok' })
  expect(checkDatabaseClock(-90_000)).toMatchObject({
    state: 'wrong',
    detail: expect.stringContaining('90 s behind')
  })
  expect(checkDatabaseClock(90_000)).toMatchObject({
    state: 'wrong',
    detail: expect.stringContaining('90 s ahead')
  })
  expect(checkDatabaseClock(400)).toMatchObject({ state: 'ok' })
})

test('doctor reports a limit of open files that is below the configured connections', () => {
  const config = loadConfig(standardModules, { CARTWRIGHT__SERVER__CONNECTIONS_MAX: '1000' })
  expect(checkOpenFilesLimit(config, 1_024)).toMatchObject({
    state: 'warning',
    detail: expect.stringMatching(/may open 1024 files, .*connections_max 1000 needs 1283/),
    advice: expect.stringContaining('LimitNOFILE=')
  })
  expect(checkOpenFilesLimit(config, 1_283)).toMatchObject({ state: 'ok' })
})

test('a replica that is no standby or cannot be reached is a warning, because the primary answers', async () => {
  const port = await closedPort()
  const closed = { CARTWRIGHT__DATABASE__REPLICA_URL: `postgres://shop@127.0.0.1:${port}/shop` }
  expect(await complaints(closed)).toEqual({
    replica: expect.stringMatching(/^warning: cannot be used, .*ECONNREFUSED/)
  })
  const primary = { CARTWRIGHT__DATABASE__REPLICA_URL: database.url }
  expect(await complaints(primary)).toEqual({
    replica: expect.stringMatching(/^warning: the server is not a standby/)
  })
})
