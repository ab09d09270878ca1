/**
 * What it costs to delete a week of the event log: `npm run bench:event-log-retention`. The week has 1,000,000 events, the current
 * one 100,000. Prints time and WAL of the deletion, how long an emitter had to wait meanwhile, and whether the files of other
 * weeks stayed as they are. On a database of its own, embedded; a minute.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { openEmbeddedPostgres } from '../src/embedded-postgres/open.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'

const OLD_EVENTS = 1_000_000
const NEW_EVENTS = 100_000
const EVENTS_PER_BATCH = 500
const KEPT_SINCE = `date_trunc('week', now() - interval '56 days', 'UTC')`
const MIB = 2 ** 20

const folder = await mkdtemp(join(tmpdir(), 'cartwright-event-log-'))
await chmod(folder, 0o755)
const server = await openEmbeddedPostgres({ folder, mode: 'own' })
await migrate(server.url, [])
const client = new pg.Client({ connectionString: server.url })
const emitter = new pg.Client({ connectionString: server.url })
await client.connect()
await emitter.connect()
const one = async <T>(text: string): Promise<T> => (await client.query(text)).rows[0]

/** Inserts events of this age, in weeks, with their positions. */
async function fill(events: number, weeksAgo: number): Promise<void> {
  const at = `now() - interval '${weeksAgo} weeks'`
  await client.query(`select cartwright.create_partitions('cartwright.events', 'week', ${at}, 0)`)
  await client.query(`
    insert into cartwright.events (id, occurred_at, event_id, subject, payload_version, subject_version, name, payload)
    select nextval('cartwright.event_ids'), ${at}, gen_random_uuid(), gen_random_uuid(), 1, 1, 'orders.placed',
      jsonb_build_object('order_id', gen_random_uuid(), 'number', '100001', 'customer_id', gen_random_uuid(),
        'currency', 'EUR', 'total', 12345)
    from generate_series(1, ${events})`)
  await client.query(`
    insert into cartwright.event_batches (first_position, ids, last_id, skipped_ids, oldest_at, newest_at)
    select min(id), array_agg(id order by id), max(id), '{}', min(occurred_at), max(occurred_at)
    from cartwright.events where id > coalesce((select max(last_id) from cartwright.event_batches), 0)
    group by (id - 1) / ${EVENTS_PER_BATCH}`)
}
/** The files of the partitions that have events, by name. */
const filesOf = async () =>
  new Map<string, string>(
    (
      await client.query(`
        select relname, pg_relation_filepath(oid) as path from pg_class
        where relname ~ '^events_\\d{4}w\\d{2}$' and pg_relation_size(oid) > 0`)
    ).rows.map(({ relname, path }) => [relname, path])
  )

let isOver = false
let emitted = 0
let longestMs = 0
/** Emits events one after another, and measures the longest wait. */
async function emit(): Promise<void> {
  while (!isOver) {
    const startedAt = performance.now()
    await emitter.query(`
      insert into cartwright.events (id, occurred_at, event_id, subject, payload_version, name, payload)
      select nextval('cartwright.event_ids'), now(), gen_random_uuid(), gen_random_uuid(), 1, 'orders.placed', '{}'`)
    longestMs = Math.max(longestMs, performance.now() - startedAt)
    emitted += 1
    await delay(1)
  }
}

await fill(OLD_EVENTS, 10)
await fill(NEW_EVENTS, 0)
await client.query('vacuum analyze cartwright.events')
await client.query('checkpoint')
const before = await filesOf()
const { bytes } = await one<{ bytes: string }>(
  `select sum(pg_total_relation_size(inhrelid)) as bytes from pg_inherits where inhparent = 'cartwright.events'::regclass`
)
const walOf = async () =>
  Number(
    (await one<{ wal: string }>(`select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as wal`)).wal
  )

const emitting = emit()
await delay(500)
longestMs = 0
const wal = await walOf()
const emittedBefore = emitted
const startedAt = performance.now()
await client.query('begin')
await client.query(`select cartwright.delete_event_batches(${KEPT_SINCE})`)
const { dropped } = await one<{ dropped: boolean }>(
  `select cartwright.drop_oldest_partition('cartwright.events', 'week', ${KEPT_SINCE}) as dropped`
)
await client.query('commit')
const ms = performance.now() - startedAt
const written = (await walOf()) - wal
const emittedMeanwhile = emitted - emittedBefore
await delay(500)
isOver = true
await emitting
const after = await filesOf()
const kept = (await one<{ n: number }>('select count(*)::int as n from cartwright.events')).n
const rewritten = [...after].filter(([name, path]) => before.get(name) !== path).map(([name]) => name)

console.table({
  'events deleted': OLD_EVENTS,
  'a week was dropped': dropped,
  'size of the log, MiB': Math.round(Number(bytes) / MIB),
  milliseconds: Math.round(ms),
  'KiB of WAL': Math.round(written / 1_024),
  'events emitted meanwhile': emittedMeanwhile,
  'events kept': kept,
  'rewritten partitions': rewritten.length,
  'longest wait of an emitter, ms': Math.round(longestMs)
})
await client.end()
await emitter.end()
await server.stop()
await rm(folder, { recursive: true, force: true })
const isCheap = dropped && kept === NEW_EVENTS + emitted && rewritten.length === 0
process.exit(isCheap ? 0 : 1)
