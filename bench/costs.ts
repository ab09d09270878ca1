/**
 * What errors, further pages of a list, changes of a cart and a start cost, as ratios within one run: `npm run
 * bench:costs`. Arguments select some of them (`errors`, `pages`, `changes`, `start`). With `--before=FOLDER`, another
 * checkout of this project, pages and starts are compared with that, too. Linux, a C compiler, and pgbench for `changes`.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { standardModules } from '../src/app.ts'
import { migrationSources } from '../src/module.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { fillLargeCatalog } from '../test/support/large-catalog.ts'
import { cpuMicroseconds } from './cpu.ts'
import { openFlood, requestOf } from './flood.ts'
import { createGuestCarts } from './guest-carts.ts'
import { runPgbench } from './pgbench.ts'
import {
  type Bench,
  fillShop,
  openBench,
  registerUsers,
  type Started,
  startShop,
  timeStart,
  WITHOUT_LIMITS
} from './shop.ts'
import { print, table } from './tables.ts'

const ROUNDS = 5
const USERS = 256
const CARTS_AT_ONCE = 16
const SECONDS = 3
/** Changes of each cart with a key of their own: more than can be done in a round. */
const KEYED_EACH = 100
const PAGES = 50
const HERE = process.cwd()
const UNCACHED = { CARTWRIGHT__CATALOG__PAGE_CACHE_SECONDS: '0' }
/** Of the two days before: a plan that is made for a table without keys reads all that come. */
const KEPT_KEYS = `
  insert into cartwright.idempotency_keys
    (key_hash, fingerprint, state, lease, lease_until, operation_id, expires_at)
  select sha256(i::text::bytea), '', 'done', gen_random_uuid(), now(), gen_random_uuid(), now() + interval '1 day'
  from generate_series(1, 10000) i`
const TWO_UPSERTS = `
\\set cart random(1, ${USERS})
begin;
insert into yardstick.carts (cart_id, version, quantity, distinct_count, expires_at)
  values (lpad((:cart)::text, 32, '0')::uuid, 1, 9, 5, 'infinity')
  on conflict (cart_id) do update set version = carts.version + 1, quantity = excluded.quantity, updated_at = now();
insert into yardstick.changed (cart_id, id, variant_id, quantity)
  select lpad((:cart)::text, 32, '0')::uuid, line, line, 1 from (select lpad((:cart)::text, 32, '1')::uuid as line) lines
  on conflict (cart_id, id) do update set quantity = changed.quantity % 90 + 1;
commit;
`

const flood = openFlood()
const parts = { errors, pages, changes, start }
const before = process.argv.find(each => each.startsWith('--before='))?.slice('--before='.length)
const wanted = process.argv.slice(2).filter(each => !each.startsWith('--'))
try {
  for (const [name, measure] of Object.entries(parts)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue
    print(`\n## ${name}\n`)
    await measure()
  }
} finally {
  await flood.close()
}

/** CPU of the program alone, against `/healthz`, which writes no log line. */
async function errors(): Promise<void> {
  await withBench(async bench => {
    await migrate(bench.databaseUrl, migrationSources(standardModules))
    const shop = await startShop(bench.databaseUrl)
    const limited = await startShop(bench.databaseUrl, { CARTWRIGHT__RATE_LIMIT__PUBLIC_PER_MINUTE: '1' })
    try {
      const cost = (each: Started, request: string) => () => costOf(each, [each.pid], [request], 32)
      const measured = await inTurn({
        '/healthz': cost(shop, requestOf('GET', '/healthz')),
        '200: an empty list of categories': cost(shop, requestOf('GET', '/api/categories')),
        '404: no such route': cost(shop, requestOf('GET', '/no/such/route')),
        '404: no such category': cost(shop, requestOf('GET', '/api/categories/none')),
        '405': cost(shop, requestOf('PUT', '/api/categories')),
        '401: no token': cost(shop, requestOf('GET', '/api/cart')),
        '429': cost(limited, requestOf('GET', '/api/categories'))
      })
      table('us', measured, '/healthz')
    } finally {
      await Promise.all([shop.stop(), limited.stop()])
    }
  })
}

/**
 * CPU of program and database for pages of 20 out of 20,000 products, against `/healthz`: kept, and with nothing kept. With
 * `--before`, also those of that checkout, in the same rounds.
 */
async function pages(): Promise<void> {
  await withBench(async bench => {
    await migrate(bench.databaseUrl, migrationSources(standardModules))
    await fillLargeCatalog(bench.client)
    const shops: Started[] = []
    const contenders: Record<string, () => Promise<number>> = {}
    try {
      for (const [when, checkout] of Object.entries({ '': HERE, ', before': before })) {
        if (checkout === undefined) continue
        const main = join(checkout, 'src/main.ts')
        const start = async (settings: Record<string, string>) => {
          const shop = await startShop(bench.databaseUrl, settings, { main })
          shops.push(shop)
          const pids = () => [shop.pid, ...bench.databasePids()]
          const cost = (paths: readonly string[]) => {
            const requests = paths.map(path => requestOf('GET', path))
            return () => costOf(shop, pids(), requests, 8)
          }
          return { cost, further: await furtherPages(shop.url) }
        }
        const kept = await start({})
        const uncached = await start(UNCACHED)
        Object.assign(contenders, {
          [`/healthz${when}`]: kept.cost(['/healthz']),
          [`a kept first page${when}`]: kept.cost(['/api/products']),
          [`further pages${when}`]: kept.cost(kept.further),
          [`a kept product page${when}`]: kept.cost(['/api/products/product-777']),
          [`an uncached first page${when}`]: uncached.cost(['/api/products']),
          [`uncached further pages${when}`]: uncached.cost(uncached.further),
          [`an uncached product page${when}`]: uncached.cost(['/api/products/product-777'])
        })
      }
      const measured = await inTurn(contenders)
      table('us', measured, '/healthz')
      print('')
      table('us', measured, 'a kept first page')
    } finally {
      await Promise.all(shops.map(shop => shop.stop()))
    }
  })
}

async function furtherPages(url: string): Promise<string[]> {
  const paths: string[] = []
  let path = '/api/products'
  while (paths.length < PAGES) {
    const { next_cursor } = (await (await fetch(url + path)).json()) as { next_cursor: string }
    path = `/api/products?cursor=${next_cursor}`
    paths.push(path)
  }
  return paths
}

/**
 * Changes a second of one line on 16 connections, against the same two upserts in one transaction by pgbench. Then the CPU of
 * program and database for a change and a first cart of a guest, against a change by a customer.
 */
async function changes(): Promise<void> {
  await withBench(async bench => {
    await migrate(bench.databaseUrl, migrationSources(standardModules))
    const first = await startShop(bench.databaseUrl, WITHOUT_LIMITS)
    const users = await registerUsers(first.url, USERS)
    await first.stop()
    const ids = users.map(({ id }) => id)
    await fillShop(bench.client, { lines: 5, variants: 10_000, carts: 10_000 }, ids)
    await bench.client.query(`
      create table yardstick.carts (like cart.carts including all);
      create table yardstick.changed (like cart.items including all);
      alter table yardstick.changed add foreign key (cart_id) references yardstick.carts`)
    await bench.client.query(KEPT_KEYS)
    await bench.client.query('vacuum analyze cartwright.idempotency_keys')
    const { rows } = await bench.client.query<{ cart_id: string; variant_id: string }>(
      'select distinct on (cart_id) cart_id, variant_id from cart.items where cart_id = any ($1)',
      [ids]
    )
    const tokens = new Map(users.map(({ id, token }) => [id, token]))
    let quantity = 1
    const changeEach = (isKeyed: boolean) => {
      quantity = (quantity % 90) + 1
      return rows.map(({ cart_id, variant_id }) =>
        requestOf('PUT', `/api/cart/items/${variant_id}`, {
          token: tokens.get(cart_id) ?? '',
          key: isKeyed ? crypto.randomUUID() : undefined,
          body: { quantity }
        })
      )
    }
    const shop = await startShop(bench.databaseUrl, WITHOUT_LIMITS)
    const send = async (requests: string[]) => {
      const load = { url: shop.url, connections: CARTS_AT_ONCE, rate: 0, seconds: SECONDS }
      const { sent, good, other, refused, failed } = await flood.run({ ...load, requests })
      if (other + refused + failed > 0) throw new Error(`${other + refused + failed} changes failed`)
      return { sent, rate: good / SECONDS }
    }
    const sendKeyed = async () => {
      const requests = Array.from({ length: KEYED_EACH }, () => changeEach(true)).flat()
      const { sent, rate } = await send(requests)
      // The second time it would be answered from what is kept, or wait for the first.
      if (sent > requests.length) throw new Error('a key was sent twice')
      return rate
    }
    try {
      const measured = await inTurn({
        pgbench: () =>
          runPgbench(bench.databaseUrl, TWO_UPSERTS, { connections: CARTS_AT_ONCE, seconds: SECONDS }),
        'a change of a line': async () => (await send(changeEach(false))).rate,
        'with an idempotency key': sendKeyed
      })
      table('1/s', measured, 'pgbench')
      const variantIds = [...new Set(rows.map(({ variant_id }) => variant_id))]
      const guestTokens = await createGuestCarts(shop.url, variantIds)
      const changeOfGuests = () => {
        quantity = (quantity % 90) + 1
        return guestTokens.map(({ guestToken, variantId }) =>
          requestOf('PUT', `/api/guest-cart/items/${variantId}`, { guestToken, body: { quantity } })
        )
      }
      const firstOfGuests = variantIds.map(variant_id =>
        requestOf('POST', '/api/guest-cart', { body: { variant_id, quantity: 1 } })
      )
      const pids = [shop.pid, ...bench.databasePids()]
      const cpuOf = (requests: () => string[]) => async () => {
        const used = cpuMicroseconds(pids)
        const { rate } = await send(requests())
        return (cpuMicroseconds(pids) - used) / (rate * SECONDS)
      }
      const cpu = await inTurn({
        'a change by a customer': cpuOf(() => changeEach(false)),
        'a change by a guest': cpuOf(changeOfGuests),
        'the first cart of a guest': cpuOf(() => firstOfGuests)
      })
      print('')
      table('us', cpu, 'a change by a customer')
    } finally {
      await shop.stop()
    }
  })
}

/** From the spawn to the first 200 of `/readyz`, with the embedded database, in a folder that was used before. */
async function start(): Promise<void> {
  const contenders: Record<string, () => Promise<number>> = {}
  const folders: string[] = []
  for (const [name, checkout] of Object.entries({ now: HERE, before })) {
    if (checkout === undefined) continue
    const folder = await mkdtemp(join(tmpdir(), 'cartwright-start-'))
    await chmod(folder, 0o755)
    folders.push(folder)
    // The first makes the database, the second is the first to compile what a start without that needs.
    for (let start = 0; start < 2; start += 1) await timeStart(checkout, folder)
    contenders[name] = () => timeStart(checkout, folder)
  }
  table('ms', await inTurn(contenders), before === undefined ? 'now' : 'before')
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
}

async function withBench(work: (bench: Bench) => Promise<void>): Promise<void> {
  const bench = await openBench()
  try {
    await work(bench)
  } finally {
    await bench.close()
  }
}

/** CPU of these processes for a request, in microseconds. */
async function costOf(shop: Started, pids: number[], requests: string[], connections: number) {
  const used = cpuMicroseconds(pids)
  const { good, refused, other } = await flood.run({
    url: shop.url,
    requests,
    connections,
    rate: 0,
    seconds: 1
  })
  return (cpuMicroseconds(pids) - used) / (good + refused + other)
}

/** Rounds of everything in turn, after one that warms up. */
async function inTurn(contenders: Record<string, () => Promise<number>>): Promise<Record<string, number[]>> {
  const measured: Record<string, number[]> = {}
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [name, measure] of Object.entries(contenders)) {
      const figure = await measure()
      if (round > 0) measured[name] = [...(measured[name] ?? []), figure]
    }
  return measured
}
