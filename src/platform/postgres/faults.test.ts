import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { pipeline } from 'node:stream'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { addressOf, throughProxy } from '../../../test/faults/postgres-address.ts'
import { type ProxiedDatabase, useProxiedDatabase } from '../../../test/faults/postgres-proxy.ts'
import { until } from '../../../test/faults/until.ts'
import { openAll, testDatabaseOptions } from '../../../test/support/database.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { type Database, type DatabaseOptions, openDatabase } from './database.ts'
import { statement } from './statement.ts'

shareShops()

const createRows = statement({
  name: 'test.create_rows',
  text: `
    do $$ begin
      drop table if exists public.rows;
      create table public.rows (id int primary key);
    end $$`
})
const insertRow = statement({
  name: 'test.insert_row',
  takes: { id: 'int4' },
  text: 'insert into public.rows (id) values ($id)'
})
const listRows = statement({
  name: 'test.list_rows',
  gives: { id: 'int4' },
  text: 'select id from public.rows order by id'
})
const sleep = statement({
  name: 'test.nap',
  takes: { seconds: 'float8' },
  text: 'select pg_sleep($seconds)'
})
const unavailable = { kind: 'unavailable', code: 'DATABASE_UNAVAILABLE', retryAfterSeconds: 1 }
const POOL_WAIT_MS = 500
const SLACK_MS = 300

type Faulty = ProxiedDatabase & { db: Database; direct: pg.Client }

async function useFaultyDatabase(options: Partial<DatabaseOptions> = {}): Promise<Faulty> {
  const proxied = await useProxiedDatabase()
  const db = openDatabase({
    ...testDatabaseOptions(proxied.url),
    poolWaitMs: POOL_WAIT_MS,
    statementTimeoutMs: 1_000,
    ...options
  })
  const direct = new pg.Client({ connectionString: proxied.directUrl })
  await direct.connect()
  onTestFinished(async () => {
    await proxied.proxy.restore()
    await db.close()
    await direct.end()
  })
  await db.run(createRows)
  await read(db)
  await write(db, 0)
  return { ...proxied, db, direct }
}

const read = (db: Database) => db.rows(listRows)
const write = (db: Database, id: number) => db.transaction(tx => tx.run(insertRow, { id }))
const killAll = (direct: pg.Client) =>
  direct.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid()`
  )

/** Expects that the work is rejected as unavailable, and returns the milliseconds until then. */
async function failing(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await expect(work()).rejects.toMatchObject({ kind: 'unavailable', retryAfterSeconds: 1 })
  return performance.now() - startedAt
}

async function firstSuccess(db: Database, id: number): Promise<number> {
  const reading = await until('a statement succeeds', () => read(db).then(() => true), 10_000)
  return reading + (await until('a transaction succeeds', () => write(db, id).then(() => true), 10_000))
}

test('a transaction whose backend is killed fails, and the next transaction succeeds', async () => {
  const { db, direct } = await useFaultyDatabase()
  const cutShort = db.transaction(async tx => {
    await tx.run(insertRow, { id: 1 })
    await killAll(direct)
    await tx.run(insertRow, { id: 2 })
  })
  await expect(cutShort).rejects.toMatchObject(unavailable)
  await write(db, 3)
  expect(await read(db)).toEqual([{ id: 0 }, { id: 3 }])
})

test('a transaction whose backend is killed before the commit writes nothing', async () => {
  const { db, direct } = await useFaultyDatabase()
  const cutShort = db.transaction(async tx => {
    await tx.run(insertRow, { id: 1 })
    await killAll(direct)
  })
  await expect(cutShort).rejects.toMatchObject(unavailable)
  await write(db, 2)
  expect(await read(db)).toEqual([{ id: 0 }, { id: 2 }])
})

test('a domain error reaches the caller although the backend was killed', async () => {
  const { db, direct } = await useFaultyDatabase()
  const error = new Error('the reason')
  const cutShort = db.transaction(async tx => {
    await tx.run(insertRow, { id: 1 })
    await killAll(direct)
    throw error
  })
  await expect(cutShort).rejects.toBe(error)
  await write(db, 2)
  expect(await read(db)).toEqual([{ id: 0 }, { id: 2 }])
})

test('pipelined reads of a killed backend are retried on another connection', async () => {
  const { db, direct } = await useFaultyDatabase({ sharedConnections: 1, statementTimeoutMs: 20_000 })
  const asleep = db.run(sleep, { seconds: 10 })
  const behind = Array.from({ length: 50 }, () => read(db))
  const all = Promise.allSettled([asleep, ...behind])
  await until('the statement runs', async () => {
    const { rows } = await direct.query(
      `select 1 from pg_stat_activity
       where datname = current_database() and state = 'active' and query like 'select pg_sleep%'`
    )
    return rows.length === 1
  })
  await killAll(direct)
  const [sleeper, ...others] = await all
  expect(sleeper).toMatchObject({ status: 'rejected', reason: { code: 'DATABASE_BUSY' } })
  for (const answer of others) expect(answer).toEqual({ status: 'fulfilled', value: [{ id: 0 }] })
  expect(await read(db)).toEqual([{ id: 0 }])
})

test('the connection pool hands out no idle connection whose backend was killed', async () => {
  const { db, direct } = await useFaultyDatabase()
  await openAll(db, 8)
  await killAll(direct)
  await until('only the shared connections for reads are left', () => db.statistics().total_conns <= 2)
  await write(db, 9)
  expect((await read(db)).length).toBe(2)
})

test('while the database is stopped every call fails within the pool timeout, and calls succeed afterwards', async () => {
  const { db, proxy } = await useFaultyDatabase()
  await proxy.cut()
  for (let i = 1; i <= 20; i += 1) {
    expect(await failing(() => read(db))).toBeLessThan(POOL_WAIT_MS)
    expect(await failing(() => write(db, i))).toBeLessThan(POOL_WAIT_MS)
    expect(await failing(() => db.ping())).toBeLessThan(POOL_WAIT_MS)
  }
  const crowd = Array.from({ length: 100 }, (_, i) => failing(() => write(db, i)))
  for (const elapsed of await Promise.all(crowd)) expect(elapsed).toBeLessThan(POOL_WAIT_MS + SLACK_MS)
  await proxy.restore()
  const back = await firstSuccess(db, 1)
  expect(back).toBeLessThan(5_000)
  expect(await read(db)).toEqual([{ id: 0 }, { id: 1 }])
})

test('calls to a database that hangs fail within the timeouts, and later calls fail within the pool timeout', async () => {
  const { db, proxy } = await useFaultyDatabase()
  const limit = 1_000 + 2_000 + SLACK_MS
  proxy.hang()
  const early = await Promise.all([
    failing(() => read(db)),
    failing(() => read(db)),
    failing(() => db.run(insertRow, { id: 1 })),
    failing(() => write(db, 2)),
    failing(() => write(db, 3))
  ])
  for (const elapsed of early) expect(elapsed).toBeLessThan(limit + POOL_WAIT_MS)
  const late = await Promise.all([
    failing(() => read(db)),
    failing(() => read(db)),
    failing(() => write(db, 4)),
    failing(() => write(db, 5))
  ])
  for (const elapsed of late) expect(elapsed).toBeLessThan(POOL_WAIT_MS + SLACK_MS)
  const end = performance.now() + 1_000
  while (performance.now() < end) expect(await failing(() => read(db))).toBeLessThan(POOL_WAIT_MS + SLACK_MS)
  await proxy.restore()
  const back = await firstSuccess(db, 6)
  expect(back).toBeLessThan(5_000)
  expect((await read(db)).map(row => row.id)).toContain(6)
})

test('a database server that hangs and loses its connections is reached again within a second', async () => {
  const { db, proxy } = await useFaultyDatabase()
  proxy.hang()
  const stuck = [read(db), read(db), write(db, 1)].map(each => each.catch(() => {}))
  proxy.reset()
  await proxy.restore()
  const back = await firstSuccess(db, 2)
  expect(back).toBeLessThan(1_000)
  await Promise.all(stuck)
})

test('connections that died in a failover are closed when their statements time out', async () => {
  const { db, proxy } = await useFaultyDatabase({ poolSize: 1, sharedConnections: 1 })
  proxy.strand()
  expect(await firstSuccess(db, 1)).toBeLessThan(2 * (1_000 + 2_000) + SLACK_MS)
  expect(await read(db)).toEqual([{ id: 0 }, { id: 1 }])
})

test('a transaction whose BEGIN fails changes nothing', async () => {
  const { url, proxy } = await useFaultyDatabase()
  proxy.tamper('begin read write', 'begin read wrong')
  // A new pool is needed because a used connection does not parse BEGIN again.
  const db = openDatabase(testDatabaseOptions(url))
  onTestFinished(() => db.close())
  await expect(write(db, 1)).rejects.toMatchObject(unavailable)
  await expect(db.transaction(tx => tx.rows(listRows))).rejects.toMatchObject(unavailable)
  await expect(db.transaction(async () => 1)).rejects.toMatchObject(unavailable)
  proxy.tamper('', '')
  await write(db, 2)
  expect(await read(db)).toEqual([{ id: 0 }, { id: 2 }])
})

test.each(['begin', 'commit'])(
  'a transaction whose prepared %s was deallocated continues on a new connection',
  async name => {
    const { db } = await useFaultyDatabase({ poolSize: 1 })
    const forget = statement({ name: `faults.forget_${name}`, text: `deallocate "${name}"` })
    let runs = 0
    await db.transaction(async tx => {
      runs += 1
      if (runs === 1) await tx.run(forget)
    })
    await write(db, 1)
    expect(await read(db)).toEqual([{ id: 0 }, { id: 1 }])
  }
)

test('a statement whose prepared name is taken on its connection runs on a new connection', async () => {
  const { db } = await useFaultyDatabase({ poolSize: 1, sharedConnections: 1, writeConnections: 1 })
  const taken = ['test.taken_read', 'test.taken_count'] as const
  const [takeRead, takeCount] = taken.map((name, index) =>
    statement({ name: `faults.take_${index}`, text: `prepare "${name}" as select 1` })
  ) as [typeof createRows, typeof createRows]
  const readTaken = statement({ name: taken[0], gives: { id: 'int4' }, text: listRows.text })
  const countTaken = statement({ name: taken[1], gives: { id: 'int4' }, text: listRows.text })

  await db.run(takeRead)
  expect(await db.rows(readTaken)).toEqual([{ id: 0 }])
  let runs = 0
  const found = await db.transaction(async tx => {
    runs += 1
    if (runs === 1) await tx.run(takeCount)
    return tx.rows(countTaken)
  })
  expect([found, runs]).toEqual([[{ id: 0 }], 2])
})

test('closing a connection pool does not wait for a database that hangs', async () => {
  const { url, proxy } = await useFaultyDatabase()
  const db = openDatabase(testDatabaseOptions(url))
  await read(db)
  await write(db, 1)
  proxy.hang()
  const startedAt = performance.now()
  await db.close()
  expect(performance.now() - startedAt).toBeLessThan(1_500)
  await expect(read(db)).rejects.toMatchObject(unavailable)
  await expect(write(db, 2)).rejects.toMatchObject(unavailable)
})

test('under load, eight kills of every database backend lose no acknowledged row', async () => {
  const { db, direct } = await useFaultyDatabase()
  const acknowledged: number[] = []
  let next = 0
  let stopping = false
  const worker = async () => {
    while (!stopping) {
      next += 1
      const id = next
      const done = write(db, id).then(() => acknowledged.push(id))
      await done.catch(error => expect(error).toMatchObject({ kind: 'unavailable' }))
      await read(db).catch(error => expect(error).toMatchObject(unavailable))
    }
  }
  const workers = Array.from({ length: 12 }, worker)
  for (let kills = 0; kills < 8; kills += 1) {
    const enough = acknowledged.length + 10
    await until('ten further writes are acknowledged', () => acknowledged.length >= enough)
    await killAll(direct)
  }
  stopping = true
  await Promise.all(workers)
  const stored = new Set((await read(db)).map(row => row.id))
  expect(acknowledged.filter(id => !stored.has(id))).toEqual([])
  expect(db.statistics().acquired_conns).toBe(0)
})

test('a database server that needs 1.5 seconds to open a connection is reached', async () => {
  const { directUrl } = await useProxiedDatabase()
  const timers: NodeJS.Timeout[] = []
  const server = createServer({ pauseOnConnect: true }, socket => {
    const open = () => pipeline(socket, connect(addressOf(directUrl)), socket, () => {})
    socket.on('error', () => {})
    timers.push(setTimeout(open, 1_500))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = throughProxy(directUrl, server.address() as AddressInfo)
  const db = openDatabase({ ...testDatabaseOptions(url), poolWaitMs: 10_000 })
  onTestFinished(async () => {
    await db.close()
    timers.forEach(clearTimeout)
    server.close()
  })
  await db.run(createRows)
  expect(await read(db)).toEqual([])
})
