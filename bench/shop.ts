import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { openEmbeddedPostgres } from '../src/embedded-postgres/open.ts'
import { startWithStatementCounts } from '../test/support/statement-counts.ts'
import { serverProcesses } from './cpu.ts'
import type { Contender } from './measure.ts'

const START_MS_MAX = 30_000
const SETTLE_MS = 200
const PASSWORD = 'correct horse battery staple'

export type Size = { variants: number; carts: number; lines: number }
export type Bench = {
  databaseUrl: string
  client: pg.Client
  databasePids: () => number[]
  close(): Promise<void>
}

type BenchOptions = { connectionsMax?: number; countsStatements?: boolean }

/** A database server of its own in a temporary folder. `countsStatements`: with pg_stat_statements, which costs some CPU. */
export async function openBench({
  countsStatements = false,
  ...connections
}: BenchOptions = {}): Promise<Bench> {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright-bench-'))
  await chmod(folder, 0o755)
  const open = () => openEmbeddedPostgres({ folder, mode: 'own', ...connections })
  const server = countsStatements ? await startWithStatementCounts(open) : await open()
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  const postmaster = Number(
    readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8').split('\n', 1)[0]
  )
  return {
    databaseUrl: server.url,
    client,
    databasePids: () => serverProcesses(postmaster),
    close: async () => {
      await client.end()
      await server.stop()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

export type Started = Contender & { stop(signal?: NodeJS.Signals): Promise<void> }

/** For a shop that is only filled: hundreds of people register at once. */
export const WITHOUT_LIMITS = { CARTWRIGHT__RATE_LIMIT__ENABLED: 'false' }

/**
 * The product as its users run it: with the flags of `npm start`, token check, limits, metrics and log lines. `main`: with modules
 * of its own.
 */
export async function startShop(
  databaseUrl: string,
  settings: Record<string, string> = {},
  { core, main = 'src/main.ts', workers = 1 }: { core?: number; main?: string; workers?: number } = {}
): Promise<Started> {
  const port = await freePort()
  const limits = ['RATE_LIMIT__PUBLIC', 'RATE_LIMIT__SECURED', 'AUTH__LOGIN', 'AUTH__REGISTER'].map(name => [
    `CARTWRIGHT__${name}_PER_MINUTE`,
    '1000000'
  ])
  const environment = {
    DATABASE_URL: databaseUrl,
    PORT: String(port),
    CARTWRIGHT__AUTH__ACCESS_TOKEN_SECONDS: '86400', // all tables are measured with the same tokens
    ...Object.fromEntries(limits),
    ...settings
  }
  const flags = process.env.START_FLAGS?.split(' ') ?? []
  const more = workers === 1 ? [] : ['--workers', String(workers)]
  const program = { name: 'cartwright', args: [...flags, main, 'start', ...more], probe: '/readyz', core }
  return start(program, port, environment)
}

export async function startYardstick(databaseUrl: string, jwk: unknown): Promise<Started> {
  const port = await freePort()
  return start({ name: 'yardstick', args: ['bench/yardstick.ts'], probe: '/' }, port, {
    YARDSTICK_DATABASE: databaseUrl,
    YARDSTICK_JWK: JSON.stringify(jwk),
    YARDSTICK_PORT: String(port)
  })
}

/** `core` is the only one that it may run on. */
type ProgramToStart = { name: string; args: string[]; probe: string; core?: number | undefined }

async function start(
  { name, args, probe, core }: ProgramToStart,
  port: number,
  environment: Record<string, string>
): Promise<Started> {
  const [command, ...rest] =
    core === undefined
      ? [process.execPath, ...args]
      : ['taskset', '-c', String(core), process.execPath, ...args]
  // Log lines are written, to nowhere.
  const child = spawn(command as string, rest, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'inherit']
  })
  const url = `http://127.0.0.1:${port}`
  endWithBench(child)
  await untilAnswers(child, url + probe)
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    const ended = new Promise(resolve => child.once('exit', resolve))
    child.kill(signal)
    await ended
  }
  return { name, url, pid: child.pid ?? 0, stop }
}

/** A bench that is interrupted leaves no shop behind. */
function endWithBench(child: ChildProcess): void {
  const end = () => void child.kill('SIGKILL')
  process.once('exit', end)
  child.once('exit', () => process.off('exit', end))
}
// Node ends without `exit` when a signal has no listener.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

async function untilAnswers(child: ChildProcess, url: string): Promise<void> {
  const deadline = Date.now() + START_MS_MAX
  while (Date.now() < deadline && child.exitCode === null) {
    const answered = await fetch(url).then(
      () => true,
      () => false
    )
    if (answered) return
    await delay(20)
  }
  throw new Error(`${child.spawnargs.join(' ')} does not answer`)
}

/**
 * Milliseconds from `npm start` (without npm) in a checkout to its first 200 on `/readyz`, with an embedded database in
 * `folder`. Where compiled code is kept, the checkout decides. It is stopped when it has said all and written that code,
 * so that the next start finds everything in order.
 */
export async function timeStart(checkout: string, folder: string): Promise<number> {
  const port = await freePort()
  const { NODE_COMPILE_CACHE: _ours, ...inherited } = process.env
  const environment = { ...inherited, CARTWRIGHT_DATA: folder, PORT: String(port) }
  const startedAt = performance.now()
  const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'))
  const child = spawn('sh', ['-c', scripts.start], {
    cwd: checkout,
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit']
  })
  endWithBench(child)
  let said = ''
  child.stdout.on('data', text => {
    said += text
  })
  while (!(await isReady(`http://127.0.0.1:${port}/readyz`))) {
    if (child.exitCode !== null || performance.now() - startedAt > START_MS_MAX)
      throw new Error(`${checkout} does not start`)
    await delay(5)
  }
  const milliseconds = performance.now() - startedAt
  while (!said.includes('Try it:')) await delay(5)
  await delay(SETTLE_MS)
  const ended = new Promise(resolve => child.once('exit', resolve))
  child.kill('SIGTERM')
  await ended
  return milliseconds
}

const isReady = (url: string): Promise<boolean> =>
  fetch(url).then(
    ({ status }) => status === 200,
    () => false
  )

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Accounts made through the API, and an access token of each. */
export async function registerUsers(url: string, count: number): Promise<{ id: string; token: string }[]> {
  const users = []
  for (let number = 0; number < count; number += 1) {
    const response = await fetch(`${url}/api/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `bench-${number}@example.com`, password: PASSWORD })
    })
    if (response.status !== 201) throw new Error(`register: ${response.status} ${await response.text()}`)
    const body = (await response.json()) as { user: { id: string }; access_token: string }
    users.push({ id: body.user.id, token: body.access_token })
  }
  return users
}

/** How stock is counted: not at all, of nothing yet, of every variant. */
export type Counted = 'off' | 'nothing' | 'all'

/** Tracks all variants, of which there are plenty. */
export async function countAll(client: pg.Client): Promise<void> {
  await client.query(`
    truncate inventory.movements, inventory.reservations, inventory.levels, inventory.items cascade;
    insert into inventory.items (id, sku, tracked) select id, sku, true from catalog.variants;
    insert into inventory.levels (item_id, location_id, on_hand, seq)
    select items.id, locations.id, 1000000, 1 from inventory.items cross join inventory.locations;
    insert into inventory.movements
      (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after, reserved_after, operation)
    select item_id, location_id, seq, 'count', on_hand, 0, on_hand, 0, gen_random_uuid() from inventory.levels`)
  await client.query('vacuum analyze')
}

/** Fills both schemas with the same shop: variants in fives, and carts of the given users and of many others. */
export async function fillShop(client: pg.Client, size: Size, userIds: readonly string[]): Promise<void> {
  const { variants, carts, lines } = size
  await client.query(`
    truncate catalog.products, cart.carts, inventory.items cascade;
    drop schema if exists yardstick cascade;
    create schema yardstick`)
  await client.query(
    `insert into catalog.products (id, slug, name, description, brand, status, tags, options, images, search_text)
     select gen_random_uuid(), 'product-' || i, 'Product number ' || i, repeat('words ', 40), 'Brand', 'active', '{}',
            '[]', '[{"url": "https://images.example.com/product.jpg", "alt": null}]', 'product number ' || i
     from generate_series(1, $1::int) i`,
    [Math.ceil(variants / 5)]
  )
  await client.query(`
    insert into catalog.variants (id, product_id, sku, name, price_minor, currency, attributes, active, position)
    select gen_random_uuid(), p.id, p.slug || '-' || i, p.name || ' ' || i, 1000 + i * 100, 'USD',
           jsonb_build_object('Colour', 'Blue', 'Size', i::text), true, i
    from catalog.products p, generate_series(1, 5) i`)
  await client.query(`
    create temporary table if not exists chosen (number int primary key, id uuid);
    truncate chosen;
    insert into chosen select row_number() over (), id from catalog.variants`)
  const cartIds = `select unnest($1::uuid[]) as id union all select gen_random_uuid() from generate_series(1, $2::int)`
  await client.query(
    `insert into cart.carts (cart_id, expires_at) select id, now() + interval '30 days' from (${cartIds}) c`,
    [userIds, Math.max(0, carts - userIds.length)]
  )
  await client.query(
    `insert into cart.items (cart_id, variant_id, quantity)
     select distinct on (c.cart_id, v.id) c.cart_id, v.id, 1 + l % 3
     from cart.carts c cross join generate_series(1, $1::int) l
     join chosen v on v.number = 1 + abs(hashtextextended(c.cart_id::text || l, 0)) % (select count(*) from chosen)`,
    [lines]
  )
  await client.query(`
    update cart.carts c set quantity = s.quantity, distinct_count = s.lines from (
      select cart_id, sum(quantity) as quantity, count(*) as lines from cart.items group by cart_id
    ) s where s.cart_id = c.cart_id;
    create table yardstick.products as
      select id, name, slug, images -> 0 ->> 'url' as image_url from catalog.products;
    create table yardstick.variants as
      select id, product_id, sku, price_minor as price, price_minor as discounted_price, null::int as stock, attributes
      from catalog.variants;
    create table yardstick.items as select cart_id, variant_id, quantity from cart.items;
    alter table yardstick.products add primary key (id);
    alter table yardstick.variants add primary key (id);
    alter table yardstick.items add primary key (cart_id, variant_id)`)
  await client.query('vacuum analyze')
}
