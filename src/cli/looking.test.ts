import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { runCommandLine } from '../../test/support/command.ts'
import { createTestDatabase } from '../../test/support/database.ts'
import { runSql } from '../../test/support/sql.ts'
import { standardModules } from '../app.ts'

let database: Awaited<ReturnType<typeof createTestDatabase>>
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

const run = (line: string, settings: Record<string, string> = {}) =>
  runCommandLine(line.split(' '), { settings: { DATABASE_URL: database.url, ...settings } })

test('the command "config check" accepts a valid configuration and lists every problem of an invalid one', async () => {
  expect(await run('config check')).toMatchObject({ code: 0, out: 'The configuration is valid.\n' })
  const wrong = await run('config check', {
    CARTWRIGHT__SERVER__PROT: '1',
    CARTWRIGHT__MODULES__CATALOG__ENABLED: 'maybe'
  })
  expect(wrong.code).toBe(1)
  expect(wrong.errors).toContain('server.prot (did you mean port?)')
  expect(wrong.errors).toContain('modules.catalog.enabled')
  const unfit = await run('config check', { CARTWRIGHT__MODULES__CATALOG__ENABLED: 'false' })
  expect(unfit).toMatchObject({ code: 1, errors: expect.stringContaining('requires module catalog') })
})

test('the command "config print" shows the effective configuration without secrets', async () => {
  const settings = {
    PORT: '8123',
    REDIS_URL: 'redis://user:hunter2@127.0.0.1:6379/0',
    CARTWRIGHT_ADMIN_PASSWORD: 'a very hidden sentence',
    CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY: 'sk_live_hidden',
    CARTWRIGHT__PAYMENTS__STRIPE__WEBHOOK_SECRETS: '[whsec_hidden]',
    CARTWRIGHT__SERVER__TRUSTED_CLIENTS: `[${'hidden'.repeat(6)}]`
  }
  const { code, out } = await run('config print', settings)
  expect(code).toBe(0)
  expect(out).not.toMatch(/hidden|hunter2/)
  const shown = parse(out)
  expect(shown.server).toMatchObject({ port: 8123, trusted_clients: ['***'] })
  expect(shown.secrets.keys).toEqual([{ id: 'test', key: '***' }])
  expect(shown.cache.url).toBe('redis://user:***@127.0.0.1:6379/0')
  expect(shown.payments.stripe).toMatchObject({
    secret_key: '***',
    webhook_secrets: ['***'],
    publishable_key: ''
  })
  expect(JSON.parse((await run('config print --json', settings)).out)).toEqual(shown)
})

test('config schema prints the settings of every module', async () => {
  const { out } = await run('config schema')
  expect(Object.keys(JSON.parse(out).properties.modules.properties)).toEqual(
    expect.arrayContaining(standardModules.map(({ name }) => name))
  )
})

test('the modules command lists all modules, including disabled ones, with their parts and ports', async () => {
  const off = {
    CARTWRIGHT__MODULES__ADMIN__ENABLED: 'false',
    CARTWRIGHT__MODULES__CATEGORIES__ENABLED: 'false'
  }
  const { out } = await run('modules', off)
  expect(out).toMatch(/^admin +off /m)
  expect(out).toMatch(/^ {2}categories +off /m)
  expect(out).toMatch(/^ {2}pricing\.order_history +A port of pricing\. Provided by: orders\.$/m)
  const listed = JSON.parse((await run('modules --json', off)).out)
  expect(listed).toContainEqual(
    expect.objectContaining({ name: 'cart', enabled: true, requires: expect.arrayContaining(['catalog']) })
  )
})

test('the routes and openapi commands list the enabled modules only', async () => {
  const committed = JSON.parse(await readFile(new URL('../../openapi.json', import.meta.url), 'utf8'))
  // A running server holds the port.
  expect(JSON.parse((await run('openapi', { CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: '1' })).out)).toEqual(
    committed
  )
  expect((await run('routes --module cart')).out).toMatch(/^GET +\/api\/cart\/count +secured +cart +\S/m)
  const without = JSON.parse(
    (await run('routes --json', { CARTWRIGHT__MODULES__ADMIN__ENABLED: 'false' })).out
  )
  const owners = new Set(without.map((route: { module: string }) => route.module))
  expect(owners).toContain('orders')
  expect(owners).not.toContain('admin')
})

test('the command "migrate --dry-run" lists a pending migration without applying it', async () => {
  const own = await createTestDatabase()
  onTestFinished(own.drop)
  const settings = { DATABASE_URL: own.url }
  expect((await run('migrate --dry-run', settings)).out).toBe('The database is up to date.\n')
  const last = `(select name from cartwright.migrations where module = 'cart' order by name desc limit 1)`
  const [row] = await runSql(
    own.url,
    `delete from cartwright.migrations where module = 'cart' and name = ${last} returning name`
  )
  const { out } = await run('migrate --dry-run', settings)
  expect(out).toBe(`A start applies:\n  cart/${row?.name}\n`)
  expect(JSON.parse((await run('migrate --dry-run --json', settings)).out).pending).toEqual([
    `cart/${row?.name}`
  ])
})

test('the command "seed" loads the demo catalog into an empty catalog only', async () => {
  expect(await run('seed')).toMatchObject({ code: 0, out: expect.stringContaining('products.') })
  expect(await run('seed')).toMatchObject({
    code: 1,
    errors: expect.stringContaining('has products already')
  })
})
