/**
 * What the event log writes for an order with two events, in bytes of WAL: `npm run bench:event-log`. Each order is a
 * transaction of its own and gets its positions in a batch of its own, which is the dearest case. Full-page images are
 * counted apart: they are written for each page once after a checkpoint. On a database of its own, embedded; 20 seconds.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import pino from 'pino'
import { openEmbeddedPostgres } from '../src/embedded-postgres/open.ts'
import { newId } from '../src/kernel/ids.ts'
import { orderCreatedEvent, orderPlacedEvent } from '../src/modules/orders/index.ts'
import { createEventLog } from '../src/platform/event-log/event-log.ts'
import { createEventLogSequencer } from '../src/platform/event-log/sequencer.ts'
import { createMetricRegistry } from '../src/platform/metrics/registry.ts'
import { createOutbox } from '../src/platform/outbox/outbox.ts'
import { openDatabase } from '../src/platform/postgres/database.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { statement } from '../src/platform/postgres/statement.ts'
import { createTimers } from '../src/platform/timers.ts'

const ORDERS = 1_000

const createRow = statement({
  name: 'bench.create_row',
  text: 'create table public.orders (id int primary key, n int not null)'
})
const insertRow = statement({ name: 'bench.insert_row', text: 'insert into public.orders values (1, 0)' })
const changeRow = statement({ name: 'bench.change_row', text: 'update public.orders set n = n + 1' })

const folder = await mkdtemp(join(tmpdir(), 'cartwright-event-log-'))
await chmod(folder, 0o755)
const server = await openEmbeddedPostgres({ folder, mode: 'own' })
await migrate(server.url, [])
const db = openDatabase({
  url: server.url,
  poolSize: 2,
  sharedConnections: 1,
  writeConnections: 1,
  slowConnections: 1,
  poolWaitMs: 60_000,
  statementTimeoutMs: 60_000,
  lockTimeoutMs: 60_000
})
const log = pino({ level: 'error' })
const settings = { position_wait_seconds: 1, retention_days: 90 }
const metrics = createMetricRegistry()
const eventLog = createEventLog({
  partitions: { keep: () => {} },
  db,
  log,
  metrics,
  timers: createTimers(log),
  settings
})
const outbox = createOutbox({ db, log, metrics, eventLog })
const sequencer = createEventLogSequencer({ db, log, waitSeconds: 1 })
const client = new pg.Client({ connectionString: server.url })
await client.connect()

type Written = { bytes: number; images: number }
/** Returns what is written for one run of `work`, on average. */
async function written(work: () => Promise<unknown>, fullPageWrites: boolean): Promise<Written> {
  await client.query(`alter system set full_page_writes = ${fullPageWrites}`)
  await client.query('select pg_reload_conf()')
  await client.query('checkpoint')
  const read = async () => {
    const { rows } = await client.query(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes, (select wal_fpi::float8 from pg_stat_wal) as images`
    )
    return rows[0] as Written
  }
  const before = await read()
  for (let order = 0; order < ORDERS; order += 1) await work()
  // Statistics of other sessions arrive with a delay of a second.
  await new Promise(resolve => setTimeout(resolve, 1_500))
  const after = await read()
  return { bytes: (after.bytes - before.bytes) / ORDERS, images: (after.images - before.images) / ORDERS }
}

const order = (events: boolean) => () =>
  db.transaction(async tx => {
    await tx.run(changeRow)
    if (!events) return
    const order_id = newId()
    const payload = { order_id, number: '100001', customer_id: newId(), currency: 'EUR', total: 12_345 }
    outbox.emit(tx, orderCreatedEvent, { id: order_id, version: 1 }, payload)
    outbox.emit(tx, orderPlacedEvent, { id: order_id, version: 1 }, payload)
  })
const positioned = async () => {
  await order(true)()
  await sequencer.advance()
}

await db.run(createRow)
await db.run(insertRow)
for (const fullPageWrites of [false, true]) {
  const plain = await written(order(false), fullPageWrites)
  const logged = await written(order(true), fullPageWrites)
  const complete = await written(positioned, fullPageWrites)
  const of = ({ bytes, images }: Written) => ({
    'bytes of WAL': Math.round(bytes - plain.bytes),
    'full-page images': Number((images - plain.images).toFixed(2))
  })
  console.log(fullPageWrites ? '\nafter a checkpoint, with full-page images' : 'without full-page images')
  console.table({ 'two events': of(logged), 'two events and their positions': of(complete) })
}
await client.end()
await db.close()
await server.stop()
await rm(folder, { recursive: true, force: true })
process.exit(0)
