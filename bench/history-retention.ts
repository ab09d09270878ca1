/**
 * What it costs orders to drop 10,000,000 rows of history: `npm run bench:history-retention`. Four connections write the
 * history of orders and read it. Prints the slowest of them while a year is dropped, and beside it
 * while nothing is dropped, and the time of the drop. On a database of its own, embedded; some minutes. `ROWS=1000000`
 * makes it shorter.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { openEmbeddedPostgres } from '../src/embedded-postgres/open.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'

const ROWS = Number(process.env.ROWS ?? 10_000_000)
const ROWS_AT_ONCE = 500_000
const WRITERS = 4
const WINDOW_MS = 5_000
const MIB = 2 ** 20

const folder = await mkdtemp(join(tmpdir(), 'cartwright-history-'))
await chmod(folder, 0o755)
const server = await openEmbeddedPostgres({ folder, mode: 'own' })
const orders = { module: 'orders', folder: new URL('../src/modules/orders/migrations/', import.meta.url) }
await migrate(server.url, [orders])
const connect = async () => {
  const client = new pg.Client({ connectionString: server.url })
  await client.connect()
  return client
}
const client = await connect()
const old = `date_trunc('year', now() - interval '11 years', 'UTC')`
await client.query(`select cartwright.create_partitions('orders.history', 'year', ${old}, 0)`)
for (let filled = 0; filled < ROWS; filled += ROWS_AT_ONCE)
  await client.query(
    `insert into orders.history (order_id, action, from_state, to_state, at)
     select cartwright.first_id_at(${old} + n * interval '1 second'), 'complete', 'placed', 'completed', ${old} + n * interval '1 second'
     from generate_series($1::int, $2::int) n`,
    [filled + 1, Math.min(ROWS, filled + ROWS_AT_ONCE)]
  )
// Years later no autovacuum works on it. If one did, the drop would wait a second for it, and no order would.
await client.query('vacuum (analyze) orders.history')
await client.query('checkpoint')
const { rows: sizes } = await client.query<{ rows: string; bytes: string }>(
  `select (select count(*) from orders.history) as rows, sum(pg_total_relation_size(relid)) as bytes
   from pg_partition_tree('orders.history')`
)

let isOver = false
let latencies: number[] = []
/** Writes the history of an order and reads it, one after another. */
async function writeHistory(): Promise<void> {
  const writer = await connect()
  while (!isOver) {
    const startedAt = performance.now()
    await writer.query(`
      with new as (select cartwright.first_id_at(now()) as id)
      insert into orders.history (order_id, action, to_state) select id, 'create', 'pending' from new`)
    await writer.query({
      name: 'read',
      text: 'select count(*) from orders.history where order_id = $1 and at >= $2',
      values: ['0193f000-0000-7000-8000-000000000000', new Date()]
    })
    latencies.push(performance.now() - startedAt)
  }
  await writer.end()
}
/** Latencies in milliseconds while `work` runs, and for five seconds in all. */
async function measure(work: () => Promise<number>) {
  latencies = []
  const end = delay(WINDOW_MS)
  await delay(WINDOW_MS / 5)
  const startedAt = performance.now()
  const lockedMs = await work()
  const ms = performance.now() - startedAt
  await end
  const sorted = latencies.toSorted((a, b) => a - b)
  const at = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? Number.NaN).toFixed(1))
  return {
    'drop, ms': Math.round(ms),
    'until the commit, ms': Math.round(lockedMs),
    orders: sorted.length,
    p50: at(0.5),
    p99: at(0.99),
    slowest: Number(Math.max(...sorted).toFixed(1))
  }
}

const writing = Array.from({ length: WRITERS }, writeHistory)
await delay(1_000)
const control = await measure(async () => 0)
let tries = 0
/** Returns the time with locks. Orders do not wait for the rest: PostgreSQL deletes the files after it has released them. */
async function dropYear(): Promise<number> {
  const startedAt = performance.now()
  tries += 1
  try {
    await client.query('begin')
    await client.query(
      `select cartwright.drop_oldest_partition('orders.history', 'year', now() - interval '10 years')`
    )
    const ms = performance.now() - startedAt
    await client.query('commit')
    return ms
  } catch (error) {
    await client.query('rollback')
    // A lock that is not free within 200 ms, as the shop does it.
    if (!(error instanceof pg.DatabaseError && error.code === '55P03')) throw error
    await delay(100 * Math.random() * tries)
    return dropYear()
  }
}
const drop = await measure(dropYear)
const again = await measure(async () => 0)
isOver = true
await Promise.all(writing)
const { rows: kept } = await client.query(
  `select from orders.history where at < now() - interval '10 years' limit 1`
)
console.log(
  `${sizes[0]?.rows} rows of history, ${Math.round(Number(sizes[0]?.bytes) / MIB)} MiB, dropped in ${tries} tries`
)
console.table({ 'nothing is dropped': control, 'a year is dropped': drop, 'nothing again': again })
await client.end()
await server.stop()
await rm(folder, { recursive: true, force: true })
process.exit(kept.length === 0 && drop['drop, ms'] < 1_000 ? 0 : 1)
