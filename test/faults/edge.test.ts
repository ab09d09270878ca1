import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test } from 'vitest'
import { standardModules } from '../../src/app.ts'
import { migrationSources } from '../../src/module.ts'
import { migrate } from '../../src/platform/postgres/migrate.ts'
import { createShop } from '../../src/shop.ts'
import { freePort } from '../support/free-port.ts'
import { startProgram } from '../support/program.ts'
import { SECRET_SETTINGS } from '../support/secrets.ts'
import { type TestCluster, usePrimaryAndStandby } from '../support/standby.ts'
import { until } from './until.ts'

/** A page is cached for a second, and the standby follows within milliseconds. The rest is for a busy machine. */
const CACHED_MS_MAX = 1_000 + 2_000
const STALE = '110 - "Response is Stale"'
const READ_ONLY = [503, 'PROCESS_READ_ONLY']

type Operation = { responses: Record<string, unknown> }
const { paths } = JSON.parse(readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>
}
/** Public responses, which alone can be 304. */
const isPublic = ({ responses }: Operation) => '304' in responses
const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([method]) => /^(?:get|post|put|patch|delete)$/.test(method))
    .map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))
)

const STAFF = { email: 'boss@example.com', password: 'an uncommon sentence' }
/** The settings that all processes share. */
const settings = {
  ...SECRET_SETTINGS,
  CARTWRIGHT_ADMIN_EMAIL: STAFF.email,
  CARTWRIGHT_ADMIN_PASSWORD: STAFF.password,
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__LOG__LEVEL: 'silent',
  PORT: '0'
}
const edgeSettings = (url: string) => ({
  ...settings,
  DATABASE_URL: url,
  CARTWRIGHT__DATABASE__READ_ONLY: 'true'
})

/** A process in this one, and how to call it. */
async function useProcess(environment: Record<string, string>) {
  const shop = await createShop({ modules: standardModules, environment }).start()
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping ??= shop.stop()
    return stopping
  }
  onTestFinished(stop)
  const send = async (method: string, path: string, body?: object, token?: string) => {
    const headers = {
      ...(body && { 'content-type': 'application/json' }),
      ...(token && { authorization: `Bearer ${token}` })
    }
    const sent = { method, headers, ...(body && { body: JSON.stringify(body) }) }
    const response = await fetch(shop.address + path, sent)
    // biome-ignore lint/suspicious/noExplicitAny: Whatever the shop responds.
    const json = (await response.json()) as any
    return { status: response.status, json, isStale: response.headers.get('warning') === STALE }
  }
  const lag = async () => {
    const metrics = await (await fetch(`${shop.address}/metrics`)).text()
    return Number(/^cartwright_db_replica_lag_seconds (\S+)$/m.exec(metrics)?.[1])
  }
  return { stop, send, read: (path: string) => send('GET', path), lag }
}

/** A shop at the primary with a product, and an edge at its standby. */
async function useEdge() {
  const { primary, standby } = await usePrimaryAndStandby()
  const shop = await useProcess({ ...settings, DATABASE_URL: primary.url })
  const { access_token: token } = (await shop.send('POST', '/api/auth/login', STAFF)).json
  const write = async (method: string, path: string, body?: object) => {
    const { status, json } = await shop.send(method, path, body, token)
    if (status >= 300) throw new Error(JSON.stringify(json))
    return json
  }
  const category = await write('POST', '/api/catalog/categories', { name: 'Mugs' })
  const variants = [{ sku: 'CUP', price: 1_000 }]
  const product = await write('POST', '/api/catalog/products', {
    name: 'Cup',
    slug: 'cup',
    category_ids: [category.id],
    variants
  })
  const rename = (name: string) => write('PATCH', `/api/catalog/products/${product.id}`, { name })
  const hasProduct = `select from catalog.products where id = '${product.id}'`
  await until('the standby has the product', async () => (await standby.sql(hasProduct)).length === 1)
  const edge = await useProcess(edgeSettings(standby.url))
  return { primary, standby, write, rename, product, category, page: `/api/products/${product.id}`, ...edge }
}

const codeOf = ({ status, json }: { status: number; json: { code?: string } }) => [status, json.code]

test('an edge answers every public operation, rejects all others, and sends no write to its standby', {
  timeout: 120_000
}, async () => {
  const { standby, product, category, read, send, stop } = await useEdge()
  const idOf = (path: string) => (path.startsWith('/api/categories') ? category.id : product.id)
  const wrong: unknown[] = []
  let served = 0
  for (const { path, method, operation } of operations) {
    const target = path.replace('{country}', 'DE').replaceAll(/\{\w+\}/g, idOf(path))
    if (!path.startsWith('/api/') && !isPublic(operation)) continue
    if (isPublic(operation)) {
      served += 1
      const { status } = await read(target)
      if (status !== 200) wrong.push([method, path, status])
    } else {
      const answer = codeOf(await send(method, target, method === 'GET' ? undefined : {}))
      if (JSON.stringify(answer) !== JSON.stringify(READ_ONLY)) wrong.push([method, path, answer])
    }
  }
  expect(wrong).toEqual([])
  expect(served).toBeGreaterThan(8)
  expect(await read('/api/products?q=cup')).toMatchObject({ status: 200, json: { items: [{ name: 'Cup' }] } })
  expect(await read('/api/products/none')).toMatchObject({
    status: 404,
    json: { code: 'CATALOG_PRODUCT_NOT_FOUND' }
  })
  const ready = await read('/readyz')
  expect(ready).toMatchObject({ status: 200, json: { status: 'READY', writes: 'READ_ONLY', replica: 'UP' } })
  await stop()
  expect(standby.errors()).toEqual([])
})

test('a change at the primary is on the pages of an edge within its cache time', {
  timeout: 120_000
}, async () => {
  const { write, rename, page, read } = await useEdge()
  expect((await read(page)).json.name).toBe('Cup')
  expect((await read('/api/products')).json.items).toHaveLength(1)
  const variants = [{ sku: 'BEAKER', price: 1_000 }]
  const another = await write('POST', '/api/catalog/products', { name: 'Beaker', slug: 'beaker', variants })
  await rename('Mug')
  const elapsed = await until('the edge shows both', async () => {
    const { items } = (await read('/api/products')).json
    return (await read(page)).json.name === 'Mug' && items.length === 2
  })
  expect(elapsed).toBeLessThan(CACHED_MS_MAX)
  expect((await read(`/api/products/${another.id}`)).status).toBe(200)
})

test('the lag of its standby is in the metrics of an edge', { timeout: 120_000 }, async () => {
  const { standby, rename, page, read, lag } = await useEdge()
  await until('the standby does not lag', async () => (await lag()) === 0)
  await standby.sql('select pg_wal_replay_pause()')
  await rename('Mug')
  await until('the lag grows', async () => (await lag()) > 2)
  expect((await read(page)).json.name).toBe('Cup')
  await standby.sql('select pg_wal_replay_resume()')
  await until('the lag is over', async () => (await lag()) === 0)
  await until('the page is current', async () => (await read(page)).json.name === 'Mug')
})

test('a discount that starts is on the pages of products of an edge, and in its lists when the primary has applied it', {
  timeout: 120_000
}, async () => {
  const { write, product, page, read } = await useEdge()
  expect((await read(page)).json.variants[0].discounted_price).toBe(1_000)
  const startsAt = new Date(Date.now() + 2_000).toISOString()
  const discount = { name: 'Sale', scope: 'product', target_id: product.id, amount: 100 }
  await write('POST', '/api/catalog/discounts', { ...discount, starts_at: startsAt })
  const statuses = new Set<number>()
  const listed = async () => (await read('/api/products')).json.items[0].discounted_price
  await until('the price is lower', async () => {
    const { status, json } = await read(page)
    for (const each of [status, (await read('/api/products')).status]) statuses.add(each)
    return json.variants[0].discounted_price === 900
  })
  expect(await listed()).toBe(1_000)
  await write('GET', '/api/products')
  await until('the list has it, too', async () => (await listed()) === 900)
  expect([...statuses]).toEqual([200])
})

test('while its standby is away an edge sends stale pages, and fresh ones when it is back', {
  timeout: 120_000
}, async () => {
  const { standby, rename, page, read, send } = await useEdge()
  expect((await read(page)).status).toBe(200)
  standby.signal('SIGKILL')
  const statuses = new Set<number>()
  await until('the page is stale', async () => {
    const { status, isStale } = await read(page)
    statuses.add(status)
    return isStale
  })
  expect([...statuses]).toEqual([200])
  expect((await read('/readyz')).status).toBe(503)
  expect(codeOf(await send('POST', '/api/guest-cart', {}))).toEqual(READ_ONLY)
  await rename('Mug')
  await standby.start()
  await until('the page is fresh', async () => {
    const { json, isStale } = await read(page)
    return !isStale && json.name === 'Mug'
  })
  await until('the edge is ready', async () => (await read('/readyz')).status === 200)
})

test('after the promotion of its standby an edge still only reads', { timeout: 120_000 }, async () => {
  const { primary, standby, page, read, send } = await useEdge()
  const transactions = async () =>
    (
      await standby.sql(
        'select pg_current_xact_id_if_assigned(), txid_snapshot_xmax(txid_current_snapshot()) as next'
      )
    )[0]?.next
  primary.signal('SIGKILL')
  await standby.sql('select pg_promote()')
  await until('the edge knows it', async () => (await read('/readyz')).json.replica === 'DOWN')
  const before = await transactions()
  expect((await read('/readyz')).json).toMatchObject({ status: 'READY', writes: 'READ_ONLY' })
  expect((await read(page)).status).toBe(200)
  expect((await read('/api/products?q=cup')).status).toBe(200)
  expect(codeOf(await send('POST', '/api/guest-cart', {}))).toEqual(READ_ONLY)
  expect(await transactions()).toBe(before)
})

/** The URL of a standby that is away, and of this one. */
const urlOfTwo = async ({ host }: TestCluster) =>
  `postgres://cartwright@127.0.0.1:${await freePort()},${host}/shop`

test('workers serve an edge, and its diagnostics port shows the standby', { timeout: 120_000 }, async () => {
  const { standby, page, stop } = await useEdge()
  await stop()
  const [url, port] = [await urlOfTwo(standby), await freePort()]
  const program = startProgram(
    {
      ...edgeSettings(url),
      CARTWRIGHT__SERVER__DIAGNOSTICS_PORT: String(port),
      CARTWRIGHT__LOG__LEVEL: 'warn'
    },
    { args: ['start', '--workers', '2'] }
  )
  onTestFinished(async () => {
    program.child.kill('SIGTERM')
    expect(await program.ended).toMatchObject({ code: 0, stderr: '' })
  })
  const address = await program.listening
  for (let count = 0; count < 8; count += 1)
    expect((await fetch(address + page, { headers: { connection: 'close' } })).status).toBe(200)
  expect((await fetch(`${address}/api/auth/login`, { method: 'POST' })).status).toBe(503)
  const diagnostics = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
  await until('the standby is watched', async () => (await diagnostics('/readyz')).includes('"replica":"UP"'))
  expect(JSON.parse(await diagnostics('/readyz'))).toMatchObject({ status: 'READY', writes: 'READ_ONLY' })
  await until('metrics are collected', async () =>
    (await diagnostics('/metrics')).includes('db_replica_lag_seconds 0')
  )
  const metrics = await diagnostics('/metrics')
  expect(metrics).toContain('cartwright_db_replica_up 1')
  expect(metrics).not.toContain('cartwright_db_writes_up')
  expect(program.output.stdout).not.toContain('"level":"error"')
})

test('doctor finds nothing wrong with an edge', { timeout: 120_000 }, async () => {
  const { standby } = await useEdge()
  const { output, ended } = startProgram(edgeSettings(await urlOfTwo(standby)), { args: ['doctor'] })
  expect([(await ended).code, output.stdout]).toEqual([0, expect.stringContaining('sessions')])
})

test('an edge does not start before the primary has its migrations', { timeout: 120_000 }, async () => {
  const { standby } = await usePrimaryAndStandby({ isEmpty: true })
  const program = startProgram(edgeSettings(standby.url))
  const { code, stderr } = await program.ended
  expect([code, stderr]).toEqual([
    1,
    'The database lacks the migration cartwright/0001_idempotency_keys.sql, which a process with database.read_only does not apply. ' +
      'Start this version with the primary first.\n'
  ])
})

test('an edge does not start before a shop was started with the primary', { timeout: 120_000 }, async () => {
  const { primary } = await usePrimaryAndStandby({ isEmpty: true })
  await migrate(primary.url, migrationSources(standardModules))
  const { code, stderr } = await startProgram(edgeSettings(primary.url)).ended
  expect([code, stderr]).toEqual([
    1,
    expect.stringMatching(/lacks what a start .* Start this version with the primary first\.\n/)
  ])
})
