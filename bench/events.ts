/**
 * What events cost, as ratios within one run: `npm run bench:events`. Commits with and without an event, of the smallest
 * transactions and of requests that emit one. Also how fast a backlog of 100,000 is handled, compared with plain
 * inserts. On databases of its own, embedded; 3 minutes. Linux, and a C compiler.
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pino from 'pino'
import { standardModules } from '../src/app.ts'
import { openEmbeddedPostgres } from '../src/embedded-postgres/open.ts'
import { defineEvent } from '../src/kernel/events.ts'
import { newId } from '../src/kernel/ids.ts'
import { Id } from '../src/kernel/wire.ts'
import { migrationSources } from '../src/module.ts'
import { saveAuditEntry } from '../src/platform/audit.ts'
import { createEventLog } from '../src/platform/event-log/event-log.ts'
import { createMetricRegistry } from '../src/platform/metrics/registry.ts'
import { createOutbox } from '../src/platform/outbox/outbox.ts'
import { type Database, openDatabase, type Transaction } from '../src/platform/postgres/database.ts'
import { migrate } from '../src/platform/postgres/migrate.ts'
import { statement } from '../src/platform/postgres/statement.ts'
import { createTimers } from '../src/platform/timers.ts'
import { writers } from './events-writers.ts'
import { openBench } from './shop.ts'

const ROUNDS = 9
const ROUND_MS = 1_000
const WRITERS = 16
const BACKLOG = 100_000
const SUBJECTS = 10_000
const BATCH = 200

const happened = defineEvent(
  'bench.happened',
  { description: 'A row was changed.', subject: 'a row' },
  { id: Id }
)

const createTables = statement({
  name: 'bench.create_tables',
  text: 'create table public.counters (id int primary key, n int not null)'
})
const createEffects = statement({
  name: 'bench.create_effects',
  text: 'create table public.effects (event uuid primary key, subject uuid not null)'
})
const fillCounters = statement({
  name: 'bench.fill_counters',
  takes: { count: 'int4' },
  text: 'insert into public.counters select n, 0 from generate_series(1, $count) n'
})
const countUp = statement({
  name: 'bench.count_up',
  takes: { id: 'int4' },
  text: 'update public.counters set n = n + 1 where id = $id'
})
const lockCounter = statement({
  name: 'bench.lock_counter',
  takes: { id: 'int4' },
  gives: { n: 'int4' },
  text: 'select n from public.counters where id = $id for update'
})
const insertEffects = statement({
  name: 'bench.insert_effects',
  takes: { events: 'uuid[]', subjects: 'uuid[]' },
  text: `
    insert into public.effects (event, subject)
    select event, subject from unnest($events::uuid[], $subjects::uuid[]) as heard (event, subject)`
})
const clearEffects = statement({ name: 'bench.clear_effects', text: 'truncate public.effects' })
const clearJobs = statement({ name: 'bench.clear_jobs', text: 'truncate cartwright.jobs' })

const insertAll = (tx: Transaction, ids: readonly string[]) =>
  tx.run(insertEffects, { events: ids, subjects: ids })

const folder = await mkdtemp(join(tmpdir(), 'cartwright-events-'))
await chmod(folder, 0o755)
const server = await openEmbeddedPostgres({ folder, mode: 'own' })
await migrate(server.url, [])
const db = openDatabase({
  url: server.url,
  poolSize: WRITERS,
  sharedConnections: 2,
  writeConnections: 2,
  slowConnections: 2,
  poolWaitMs: 5_000,
  statementTimeoutMs: 30_000,
  lockTimeoutMs: 1_000
})
try {
  await db.run(createTables)
  await db.run(createEffects)
  await db.run(fillCounters, { count: WRITERS })
  await commits(db, 'smallest transaction', (tx, id) => tx.run(countUp, { id }))
  await commits(db, `administrator's change`, changeAsAdministrator)
  await backlog(db)
} finally {
  await db.close()
  await server.stop()
  await rm(folder, { recursive: true, force: true })
}
const bench = await openBench()
try {
  await migrate(bench.databaseUrl, migrationSources(standardModules))
  await writers(bench)
} finally {
  await bench.close()
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] as number
}
function print(line: string) {
  process.stdout.write(`${line}\n`)
}

/** Locks what it changes, as it was read and shown before, and writes down who did it. */
async function changeAsAdministrator(tx: Transaction, id: number): Promise<void> {
  await tx.first(lockCounter, { id })
  await tx.run(countUp, { id })
  await saveAuditEntry(tx, {
    id: newId(),
    actor: newId(),
    method: 'PATCH',
    route: '/api/admin/products/:id',
    params: { id: newId() },
    requestId: newId(),
    status: null
  })
}

/** The same transactions with and without an event, in turn. */
async function commits(
  on: Database,
  what: string,
  change: (tx: Transaction, id: number) => Promise<unknown>
): Promise<void> {
  const outbox = openOutbox(on)
  const perSecond = async (work: (tx: Transaction) => void) => {
    const startedAt = performance.now()
    let done = 0
    const write = async (id: number) => {
      while (performance.now() - startedAt < ROUND_MS) {
        await on.transaction(async tx => {
          await change(tx, id)
          work(tx)
        })
        done += 1
      }
    }
    await Promise.all(Array.from({ length: WRITERS }, (_, index) => write(index + 1)))
    return (done * 1_000) / (performance.now() - startedAt)
  }
  const emit = (tx: Transaction) => {
    const id = newId()
    outbox.emit(tx, happened, id, { id })
  }
  await perSecond(() => {})
  const [without, including]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS; round += 1) {
    without.push(await perSecond(() => {}))
    including.push(await perSecond(emit))
    await on.run(clearJobs)
  }
  const ratio = median(including.map((each, index) => each / (without[index] as number)))
  print(
    `commits, ${what}: ${Math.round(median(without))}/s without an event, ${Math.round(median(including))}/s with one: ${ratio.toFixed(2)} (0.90 is wanted)`
  )
}

/** 100,000 events handled, each with a row as its effect, against inserting these rows. */
async function backlog(on: Database): Promise<void> {
  const ids = Array.from({ length: BACKLOG }, newId)
  const timed = async (work: () => Promise<unknown>) => {
    await on.run(clearEffects)
    const startedAt = performance.now()
    await work()
    return BACKLOG / ((performance.now() - startedAt) / 1_000)
  }
  const batches = Array.from({ length: BACKLOG / BATCH }, (_, index) =>
    ids.slice(index * BATCH, (index + 1) * BATCH)
  )
  const inBatches = await timed(async () => {
    for (const batch of batches) await on.transaction(tx => insertAll(tx, batch))
  })
  const oneByOne = await timed(async () => {
    const left = ids.values()
    const insert = async () => {
      for (const id of left) await on.transaction(tx => insertAll(tx, [id]))
    }
    await Promise.all(Array.from({ length: WRITERS }, insert))
  })

  let left = BACKLOG
  const all = Promise.withResolvers<void>()
  const outbox = openOutbox(on, count => {
    left -= count
    if (left === 0) all.resolve()
  })
  const subjects = Array.from({ length: SUBJECTS }, newId)
  for (let from = 0; from < BACKLOG; from += SUBJECTS)
    await on.transaction(async tx => {
      for (const id of subjects) outbox.emit(tx, happened, id, { id })
    })
  const handled = await timed(async () => {
    outbox.start()
    await all.promise
  })
  await outbox.stop()
  const compared = (other: number, wanted: string) => `${(handled / other).toFixed(2)} (${wanted} is wanted)`
  print(`handled: ${Math.round(handled)} events/s of a backlog of ${BACKLOG}`)
  print(
    `  against ${Math.round(inBatches)} rows/s inserted, ${BATCH} a transaction: ${compared(inBatches, '0.2')}`
  )
  print(
    `  against ${Math.round(oneByOne)} rows/s, one a transaction, ${WRITERS} at once: ${compared(oneByOne, '1')}`
  )
}

function openOutbox(on: Database, handled: (count: number) => void = () => {}) {
  const log = pino({ level: 'error' })
  const metrics = createMetricRegistry()
  const eventLog = createEventLog({
    partitions: { keep: () => {} },
    db: on,
    log,
    metrics,
    timers: createTimers(log),
    settings: { position_wait_seconds: 1, retention_days: 90 }
  })
  const outbox = createOutbox({ db: on, log, metrics, eventLog })
  outbox.setSubscriptions(new Map([[happened.name, ['bench:happened']]]))
  outbox.attachHandler('bench:happened', {
    handleEvents: async (tx, events) => {
      await tx.run(insertEffects, {
        events: events.map(({ id }) => id),
        subjects: events.map(({ subject }) => subject)
      })
      handled(events.length)
    }
  })
  return outbox
}
