import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { useProxiedDatabase } from '../../../test/faults/postgres-proxy.ts'
import { until } from '../../../test/faults/until.ts'
import { openAll, testDatabaseOptions } from '../../../test/support/database.ts'
import { needsOwnShop, shareShops } from '../../../test/support/shared-shops.ts'
import { type Database, type DatabaseOptions, openDatabase } from './database.ts'
import { statement } from './statement.ts'

shareShops()

const createNotes = statement({
  name: 'waits.create_notes',
  text: `
    do $$ begin
      drop table if exists public.notes;
      create table public.notes (id int primary key, count int not null default 0);
    end $$`
})
const insertNotes = statement({
  name: 'waits.insert_notes',
  text: 'insert into public.notes (id) select generate_series(1, 60)'
})
const findNote = statement({
  name: 'waits.find_note',
  takes: { id: 'int4' },
  gives: { count: 'int4' },
  text: 'select count from public.notes where id = $id'
})
const addToNote = statement({
  name: 'waits.add_to_note',
  takes: { id: 'int4' },
  text: 'update public.notes set count = count + 1 where id = $id'
})
const one = statement({ name: 'waits.one', gives: { one: 'int4' }, text: 'select 1 as one' })
const sleep = statement({
  name: 'waits.sleep',
  takes: { seconds: 'float8' },
  text: 'select pg_sleep($seconds)'
})
const sleepAndShowServer = statement({
  name: 'waits.sleep_and_show_server',
  takes: { seconds: 'float8' },
  gives: { pid: 'int4' },
  text: 'select pg_backend_pid() as pid from pg_sleep($seconds)'
})
const idleTimeout = statement({
  name: 'waits.idle_timeout',
  gives: { setting: 'text' },
  text: `select current_setting('idle_in_transaction_session_timeout') as setting`
})
const full = statement({
  name: 'waits.full',
  text: `do $$ begin raise exception 'could not extend file' using errcode = '53100'; end $$`
})

/** Far less than any lock timeout, also on a busy machine. */
const SOON_MS = 250
const busy = { kind: 'unavailable', code: 'DATABASE_BUSY', retryAfterSeconds: 1 }

/** A table of notes, and another client's connection. */
async function useNotes(options: Partial<DatabaseOptions> = {}) {
  const { url, directUrl, proxy } = await useProxiedDatabase()
  const db = openDatabase({ ...testDatabaseOptions(url), poolWaitMs: 500, ...options })
  const otherClient = new pg.Client({ connectionString: directUrl })
  await otherClient.connect()
  onTestFinished(async () => {
    await proxy.restore()
    await otherClient.end()
    await db.close()
  })
  await db.run(createNotes)
  await db.run(insertNotes)
  return { db, otherClient, proxy }
}

const add = (db: Database, id: number, deadlineAt?: number) =>
  db.transaction(tx => tx.run(addToNote, { id }), { deadlineAt })
const elapsedOf = async (work: () => Promise<unknown>): Promise<number> => {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i + 1)

test('single statements that wait for a locked row delay no reader, and succeed when it is free', async () => {
  const { db, otherClient } = await useNotes({ sharedConnections: 1 })
  await otherClient.query('begin; update public.notes set count = 0 where id = 1')
  const waiting = numbers(4).map(() => db.run(addToNote, { id: 1 }))
  for (let reads = 0; reads < 50; reads += 1)
    expect(await elapsedOf(() => db.first(findNote, { id: 2 }))).toBeLessThan(SOON_MS)
  expect(await elapsedOf(() => db.ping())).toBeLessThan(SOON_MS)
  await otherClient.query('commit')
  expect(await Promise.all(waiting)).toEqual([1, 1, 1, 1])
  expect(await db.first(findNote, { id: 1 })).toEqual({ count: 4 })
})

test('reads of a locked table fail soon, and delay neither other readers nor the ping', async () => {
  const { db, otherClient } = await useNotes({ sharedConnections: 1 })
  await db.first(one)
  await otherClient.query('begin; lock table public.notes in access exclusive mode')
  const locked = Promise.allSettled(numbers(30).map(id => db.first(findNote, { id })))
  for (let reads = 0; reads < 20; reads += 1)
    expect(await elapsedOf(() => db.first(one))).toBeLessThan(2 * SOON_MS)
  expect(await elapsedOf(() => db.ping())).toBeLessThan(SOON_MS)
  for (const answer of await locked) expect(answer).toMatchObject({ status: 'rejected', reason: busy })
  await otherClient.query('commit')
  await until('the row can be read again', async () => (await db.first(findNote, { id: 1 }))?.count === 0)
})

test('transactions that wait for locked rows do not prevent other writes, and succeed when the rows are free', async () => {
  const { db, otherClient } = await useNotes({ poolSize: 8, poolWaitMs: 30_000 })
  await otherClient.query('begin; update public.notes set count = 0 where id <= 8')
  const waiting = numbers(8).map(id => add(db, id))
  await Promise.all(numbers(42).map(number => add(db, 8 + number)))
  await otherClient.query('commit')
  await Promise.all(waiting)
  for (const id of numbers(50)) expect(await db.first(findNote, { id })).toEqual({ count: 1 })
})

test('transactions serialized by a key hold one connection and run in order', async () => {
  const { db, otherClient } = await useNotes({ poolSize: 2 })
  await otherClient.query('begin; update public.notes set count = 0 where id = 1')
  const order: number[] = []
  const inTurn = numbers(10).map(number =>
    db.serializedBy('note 1').transaction(async tx => {
      await tx.run(addToNote, { id: 1 })
      order.push(number)
    })
  )
  const late = db
    .serializedBy('note 1')
    .transaction(tx => tx.first(one), { deadlineAt: performance.now() + 50 })
  await expect(late).rejects.toMatchObject(busy)
  for (const id of numbers(20)) await add(db, 20 + id)
  expect(db.statistics().acquired_conns).toBeLessThanOrEqual(1)
  await otherClient.query('commit')
  await Promise.all(inTurn)
  expect(order).toEqual(numbers(10))
})

test('a transaction serialized by several keys waits for each of them, and never for itself', async () => {
  const { db } = await useNotes()
  const order: string[] = []
  const note = (name: string, ...keys: string[]) =>
    keys
      .reduce((waiting, key) => waiting.serializedBy(key), db)
      .transaction(async tx => {
        order.push(`${name} begins`)
        await tx.first(one)
        order.push(`${name} ends`)
      })
  await Promise.all([note('both', 'a', 'b', 'a'), note('one', 'a'), note('other', 'b')])
  const meanwhile = order.slice(order.indexOf('both begins') + 1, order.indexOf('both ends'))
  expect([order.length, meanwhile]).toEqual([6, []])
})

test('waiting for a lock that is held too long ends as DATABASE_BUSY at the deadline, not later', async () => {
  const { db, otherClient } = await useNotes()
  await otherClient.query('begin; update public.notes set count = 0 where id = 1')
  const elapsed = await elapsedOf(() =>
    expect(add(db, 1, performance.now() + 600)).rejects.toMatchObject(busy)
  )
  expect(elapsed).toBeGreaterThan(100)
  expect(elapsed).toBeLessThan(900)
})

test('the deadline of a transaction ends its statements and its wait for a connection', async () => {
  const { db } = await useNotes({ poolSize: 1 })
  const inTime = (milliseconds = 300) => ({ deadlineAt: performance.now() + milliseconds })
  const sleeping = db.transaction(tx => tx.run(sleep, { seconds: 3 }), inTime(1_000))
  const late = expect(sleeping).rejects.toMatchObject(busy)
  const waited = await elapsedOf(() =>
    expect(db.transaction(tx => tx.first(one), inTime())).rejects.toMatchObject({ kind: 'unavailable' })
  )
  expect(waited).toBeLessThan(450)
  await late
  const many = async () => {
    await expect(
      db.transaction(async tx => {
        for (;;) await tx.run(sleep, { seconds: 0.05 })
      }, inTime())
    ).rejects.toMatchObject(busy)
  }
  expect(await elapsedOf(many)).toBeLessThan(600)
  await add(db, 1)
  expect(db.statistics().acquired_conns).toBe(0)
})

test('a transaction whose connection died silently ends at its deadline without waiting for a rollback', async () => {
  const { db, proxy } = await useNotes()
  const elapsed = await elapsedOf(async () => {
    const stranded = db.transaction(
      async tx => {
        await tx.first(one)
        proxy.strand()
        await tx.run(addToNote, { id: 1 })
      },
      { deadlineAt: performance.now() + 500 }
    )
    await expect(stranded).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
  })
  expect(elapsed).toBeLessThan(900)
})

test('all database connections that died silently are found in one check', async () => {
  const { db, proxy } = await useNotes({ poolSize: 8, sharedConnections: 1 })
  // A connection that is being opened when the network breaks is detected a second later by its callers.
  await openAll(db, 8)
  await db.first(one)
  proxy.strand()
  await db.closeDeadConnections()
  const elapsed = await elapsedOf(() => Promise.all(numbers(30).flatMap(id => [add(db, id), db.first(one)])))
  expect(elapsed).toBeLessThan(2 * SOON_MS)
})

test('a caller on a database connection that died silently fails when the check finds it', async () => {
  const { db, proxy } = await useNotes({ poolSize: 2, lockTimeoutMs: 100 })
  const hasDied = Promise.withResolvers<void>()
  const begun = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const stranded = begun.map(({ resolve }, at) =>
    db.transaction(async tx => {
      await tx.first(one)
      resolve()
      await hasDied.promise
      await tx.run(addToNote, { id: at + 1 })
    })
  )
  const refused = stranded.map(each => expect(each).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' }))
  await Promise.all(begun.map(({ promise }) => promise))
  proxy.strand()
  hasDied.resolve()
  const elapsed = await elapsedOf(async () => {
    await db.closeDeadConnections()
    await Promise.all(refused)
    await Promise.all(numbers(4).map(id => add(db, id)))
  })
  expect(elapsed).toBeLessThan(1_000)
})

test('a connection that dies silently while in use does not block its slot in the pool', async () => {
  const { db, proxy } = await useNotes({ poolSize: 1 })
  const stranded = db.transaction(
    async tx => {
      await tx.first(one)
      proxy.strand()
      await tx.run(addToNote, { id: 1 })
    },
    { deadlineAt: performance.now() + 2_500 }
  )
  const refused = expect(stranded).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
  await until('another caller gets a connection', () => add(db, 2).then(() => true))
  expect(db.statistics()).toMatchObject({ acquired_conns: 0 })
  await refused
})

test('the locks of a dead process are free after 2 s, those of a transaction without deadline after 10 s', async () => {
  const { db, proxy } = await useNotes()
  const gone = db.transaction(
    async tx => {
      await tx.run(addToNote, { id: 1 })
      proxy.strand()
      await tx.run(addToNote, { id: 1 })
    },
    { deadlineAt: performance.now() + 500 }
  )
  await expect(gone).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
  await until('the row is free', () => add(db, 1).then(() => true))
  const withoutEnd = await db.transaction(tx => tx.first(idleTimeout), {
    deadlineAt: Number.POSITIVE_INFINITY
  })
  expect(withoutEnd).toEqual({ setting: '10s' })
})

test('dead peer detection closes no database connection that waits for a lock', async () => {
  const { db, otherClient } = await useNotes({ poolSize: 2 })
  await otherClient.query('begin; update public.notes set count = 0 where id = 1')
  const waiting = add(db, 1)
  await db.closeDeadConnections()
  await otherClient.query('commit')
  await waiting
})

test('dead peer detection closes no live database connection', async () => {
  const { db, otherClient } = await useNotes({ poolSize: 4, sharedConnections: 1 })
  const openConnections = async () => {
    const { rows } = await otherClient.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'"
    )
    return rows.map(({ pid }) => pid)
  }
  await Promise.all(numbers(8).map(id => add(db, id)))
  await db.first(one)
  await openAll(db, 4)
  const before = await openConnections()
  const reads = Promise.all(numbers(200).map(() => db.first(one)))
  await db.closeDeadConnections()
  await reads
  expect(await openConnections()).toEqual(expect.arrayContaining(before))
})

test('dead peer detection keeps a shared connection whose statement takes longer than a new connection', async () => {
  const { db } = await useNotes({ sharedConnections: 1 })
  const before = await db.first(sleepAndShowServer, { seconds: 0 })
  const slow = db.first(sleepAndShowServer, { seconds: 0.15 })
  await db.closeDeadConnections()
  expect(await slow).toEqual(before)
})

test('no statement fails when a migration changes the type of a column', async () => {
  const limits = { poolWaitMs: 60_000, statementTimeoutMs: 60_000 }
  const { db, otherClient } = await useNotes({ poolSize: 4, ...limits })
  const work = (id: number) =>
    db.transaction(async tx => {
      await tx.run(addToNote, { id })
      return tx.first(findNote, { id })
    })
  const readAll = (id: number) => [db.first(findNote, { id }), work(id)]
  await Promise.all(numbers(20).flatMap(readAll))
  await otherClient.query('alter table public.notes alter column count type bigint')
  await Promise.all(numbers(20).flatMap(readAll))
  await otherClient.query('alter table public.notes alter column count type integer')
  for (const id of numbers(20)) await Promise.all(readAll(id))
})

test('a full disk is reported as DATABASE_FULL', async () => {
  const { db } = await useNotes()
  await expect(db.transaction(tx => tx.run(full))).rejects.toMatchObject({
    kind: 'unavailable',
    code: 'DATABASE_FULL'
  })
})

test('the write probe of the database allocates disk space and leaves nothing behind', async () => {
  needsOwnShop()
  const { db, otherClient, proxy } = await useNotes()
  await db.proveWrite()
  const { rows } = await otherClient.query('select current_database() as name')
  await otherClient.query(`alter database ${rows[0].name} set temp_file_limit = '8kB'`)
  await proxy.reset()
  await until('the write probe finds no disk space', () =>
    db.proveWrite().catch(error => /temporary file/.test(error.cause?.message))
  )
  await otherClient.query(`alter database ${rows[0].name} reset temp_file_limit`)
  await until('the write probe finds disk space', () => db.proveWrite().then(() => true))
  await proxy.cut()
  await expect(db.proveWrite()).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
})
