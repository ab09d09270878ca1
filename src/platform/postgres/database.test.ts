import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { useTestDatabase, useTestDatabaseUrl } from '../../../test/support/database.ts'
import { eventually } from '../../../test/support/eventually.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { DomainError, defineError } from '../../kernel/errors.ts'
import type { DatabaseOptions, Transaction } from './database.ts'
import { statement } from './statement.ts'

shareShops()

const createNotes = statement({
  name: 'test.create_notes',
  text: `
    do $$ begin
      drop table if exists public.notes;
      create table public.notes (id int primary key, count bigint not null, check (count >= 0));
    end $$`
})
const insertNote = statement({
  name: 'test.insert_note',
  takes: { id: 'int4', count: 'int8' },
  text: 'insert into public.notes (id, count) values ($id, $count)'
})
const listNotes = statement({
  name: 'test.list_notes',
  gives: { id: 'int4', count: 'int8' },
  text: 'select id, count from public.notes order by id'
})
const findNote = statement({
  name: 'test.find_note',
  takes: { id: 'int4' },
  gives: { count: 'int8' },
  text: 'select count from public.notes where id = $id'
})
const addToNote = statement({
  name: 'test.add_to_note',
  takes: { id: 'int4', more: 'int8' },
  text: 'update public.notes set count = count + $more where id = $id'
})
const lockNote = statement({
  name: 'test.lock_note',
  takes: { id: 'int4' },
  text: 'select from public.notes where id = $id for update'
})
const repeatable = statement({
  name: 'test.repeatable',
  text: 'set transaction isolation level repeatable read'
})
const readSetting = statement({
  name: 'test.read_setting',
  takes: { name: 'text' },
  gives: { value: 'text' },
  text: 'select current_setting($name) as value'
})
const sleep = statement({
  name: 'test.sleep',
  takes: { seconds: 'float8' },
  text: 'select pg_sleep($seconds)'
})
const search = statement({
  name: 'test.search',
  takes: { seconds: 'float8' },
  gives: { pid: 'int4' },
  slow: true,
  text: 'select pg_backend_pid() as pid from pg_sleep($seconds)'
})
const killOthers = statement({
  name: 'test.kill_searches',
  text: `
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and query like 'select pg_backend_pid() as pid from%'`
})
const echo = statement({
  name: 'test.echo',
  takes: { value: 'int4' },
  gives: { value: 'int4' },
  text: 'select $value::int as value'
})
const tooLarge = statement({
  name: 'test.too_large',
  gives: { value: 'int8' },
  text: 'select 9007199254740992::bigint as value'
})
const divideBy = statement({
  name: 'test.divide_by',
  takes: { divisor: 'int4' },
  gives: { value: 'int4' },
  text: 'select 1 / $divisor::int as value'
})
const countIdle = statement({
  name: 'test.count_open_transactions',
  gives: { count: 'int8' },
  text: `
    select count(*) as count from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'`
})
const readOnlyServer = statement({ name: 'test.read_only_server', text: 'set transaction read only' })
const backendPid = statement({
  name: 'test.backend_pid',
  gives: { pid: 'int4' },
  text: 'select pg_backend_pid() as pid'
})

const refused = defineError('conflict', 'TEST_REFUSED', 'refused')

async function useNotes(options: Partial<DatabaseOptions> = {}) {
  const db = await useTestDatabase(options)
  await db.run(createNotes)
  await db.run(insertNote, { id: 1, count: 0 })
  await db.run(insertNote, { id: 2, count: 0 })
  return db
}
/** Timeouts that a busy machine does not reach, for tests that do not test timeouts. */
const PATIENT = { poolWaitMs: 60_000, statementTimeoutMs: 60_000, lockTimeoutMs: 60_000 }
const busy = { kind: 'unavailable', code: 'DATABASE_BUSY', retryAfterSeconds: 1 }

test('a transaction commits its writes and returns the result of its work', async () => {
  const db = await useNotes()
  const result = await db.transaction(async tx => {
    await tx.run(insertNote, { id: 3, count: 30 })
    return tx.rows(listNotes)
  })
  expect(result.map(row => row.id)).toEqual([1, 2, 3])
  expect(await db.rows(findNote, { id: 3 })).toEqual([{ count: 30 }])
})

test('a domain error rolls back the transaction and reaches the caller unchanged', async () => {
  const db = await useNotes()
  const error = refused({ details: { available: 3 } })
  const failed = db.transaction(async tx => {
    await tx.run(insertNote, { id: 3, count: 30 })
    throw error
  })
  await expect(failed).rejects.toBe(error)
  expect(await db.rows(findNote, { id: 3 })).toEqual([])
})

test('a domain error that looks like a lost connection rolls back the transaction and reaches the caller unchanged', async () => {
  const db = await useNotes()
  const error = Object.assign(new Error('timeout: Connection terminated by the server'), { code: 'EPIPE' })
  const failed = db.transaction(async tx => {
    await tx.run(insertNote, { id: 3, count: 30 })
    throw error
  })
  await expect(failed).rejects.toBe(error)
  expect(await db.rows(findNote, { id: 3 })).toEqual([])
  expect(db.statistics()).toMatchObject({ acquired_conns: 0 })
})

test('a constraint violation is reported with its constraint, and nothing is written', async () => {
  const db = await useNotes()
  const failed = db.transaction(async tx => {
    await tx.run(insertNote, { id: 3, count: 30 })
    await tx.run(insertNote, { id: 1, count: 30 })
  })
  await expect(failed).rejects.toMatchObject({ code: '23505', constraint: 'notes_pkey' })
  expect(await db.rows(findNote, { id: 3 })).toEqual([])
})

test('a transaction that fails before its first statement leaves no open transaction on the server', async () => {
  const db = await useNotes()
  for (let i = 0; i < 20; i += 1) {
    await expect(db.transaction(() => Promise.reject(refused()))).rejects.toMatchObject({
      code: 'TEST_REFUSED'
    })
  }
  expect(await db.rows(countIdle)).toEqual([{ count: 0 }])
  expect(db.statistics()).toMatchObject({ acquired_conns: 0 })
})

test('a transaction without a statement commits', async () => {
  const db = await useNotes()
  expect(await db.transaction(async () => 7)).toBe(7)
  expect(await db.rows(countIdle)).toEqual([{ count: 0 }])
})

test('a transaction whose work catches the error of a failed statement is rejected', async () => {
  const db = await useNotes()
  const failed = db.transaction(async tx => {
    await tx.run(insertNote, { id: 3, count: 30 })
    await tx.run(insertNote, { id: 1, count: 30 }).catch(() => {})
  })
  await expect(failed).rejects.toThrow('nothing was committed')
  expect(await db.rows(findNote, { id: 3 })).toEqual([])
})

test('a transaction that has ended cannot be used', async () => {
  const db = await useNotes()
  const escaped: Transaction[] = []
  await db.transaction(async tx => escaped.push(tx))
  await db.transaction(async tx => escaped.push(tx) && Promise.reject(refused())).catch(() => {})
  for (const tx of escaped) {
    await expect(tx.run(insertNote, { id: 3, count: 30 })).rejects.toThrow('after its transaction had ended')
  }
  expect(await db.rows(findNote, { id: 3 })).toEqual([])
})

test('concurrent branches of a transaction that continue after one failed change nothing', async () => {
  const db = await useNotes({ poolSize: 1 })
  const late = Promise.withResolvers<void>()
  const failed = db.transaction(tx =>
    Promise.all([
      tx.run(insertNote, { id: 1, count: 0 }),
      late.promise.then(() => tx.run(insertNote, { id: 9, count: 0 })),
      tx.run(insertNote, { id: 8, count: 0 })
    ])
  )
  await expect(failed).rejects.toMatchObject({ code: '23505' })
  await db.transaction(async tx => {
    late.resolve()
    await tx.run(insertNote, { id: 3, count: 30 })
  })
  expect((await db.rows(listNotes)).map(row => row.id)).toEqual([1, 2, 3])
})

test('a serialization failure is retried until it succeeds', async () => {
  const db = await useNotes(PATIENT)
  let runs = 0
  const allHaveRead = Promise.withResolvers<void>()
  const addOne = () =>
    db.transaction(async tx => {
      runs += 1
      await tx.run(repeatable)
      await tx.rows(findNote, { id: 1 })
      if (runs === 4) allHaveRead.resolve()
      await allHaveRead.promise
      await tx.run(addToNote, { id: 1, more: 1 })
    })
  await Promise.all([addOne(), addOne(), addOne(), addOne()])
  expect(await db.rows(findNote, { id: 1 })).toEqual([{ count: 4 }])
  expect(runs).toBeGreaterThan(4)
})

test('after five retries a serialization failure is reported as "busy"', async () => {
  const db = await useNotes(PATIENT)
  let runs = 0
  const failed = db.transaction(async tx => {
    runs += 1
    await tx.run(repeatable)
    await tx.rows(findNote, { id: 1 })
    await db.run(addToNote, { id: 1, more: 1 })
    await tx.run(addToNote, { id: 1, more: 100 })
  })
  await expect(failed).rejects.toMatchObject(busy)
  expect(runs).toBe(6)
  expect(await db.rows(findNote, { id: 1 })).toEqual([{ count: 6 }])
})

test('a transaction aborted by a deadlock is retried, and both transactions succeed', async () => {
  const db = await useNotes(PATIENT)
  let waiting = 2
  const met = Promise.withResolvers<void>()
  const cross = (first: number, second: number) =>
    db.transaction(async tx => {
      await tx.run(addToNote, { id: first, more: 1 })
      waiting -= 1
      if (waiting === 0) met.resolve()
      await met.promise
      await tx.run(addToNote, { id: second, more: 1 })
    })
  await Promise.all([cross(1, 2), cross(2, 1)])
  expect(await db.rows(listNotes)).toEqual([
    { id: 1, count: 2 },
    { id: 2, count: 2 }
  ])
  expect(waiting).toBeLessThan(0)
})

test('waiting too long for a lock is reported as "busy", in a transaction and outside of one', async () => {
  const withoutEnd = { deadlineAt: Number.POSITIVE_INFINITY }
  const db = await useNotes({ lockTimeoutMs: 200 })
  await db.transaction(async tx => {
    await tx.run(lockNote, { id: 1 })
    await Promise.all([
      expect(db.run(addToNote, { id: 1, more: 1 })).rejects.toMatchObject(busy),
      expect(db.transaction(other => other.run(addToNote, { id: 1, more: 1 }))).rejects.toMatchObject(busy)
    ])
  }, withoutEnd)
  await db.transaction(tx => tx.run(addToNote, { id: 1, more: 1 }))
  expect(await db.rows(findNote, { id: 1 })).toEqual([{ count: 1 }])
})

test('a statement that exceeds its timeout is reported as "busy", and its connection stays usable', async () => {
  const db = await useNotes({ statementTimeoutMs: 1_000, poolSize: 1 })
  await expect(db.run(sleep, { seconds: 3 })).rejects.toMatchObject(busy)
  await expect(db.transaction(tx => tx.run(sleep, { seconds: 3 }))).rejects.toMatchObject(busy)
  await db.transaction(tx => tx.run(addToNote, { id: 1, more: 1 }))
  expect(db.statistics().acquired_conns).toBe(0)
})

test('a caller that waits too long for a database connection gets "busy"', async () => {
  const db = await useNotes({ poolSize: 2, poolWaitMs: 200 })
  const gate = Promise.withResolvers<void>()
  const hold = (until: Promise<void>) =>
    [1, 2].map(id =>
      db.transaction(async tx => {
        await tx.run(lockNote, { id })
        await until
      })
    )
  const { total_conns: others } = db.statistics()
  // Opening a connection may take longer than the pool timeout.
  await eventually(async () => {
    await Promise.all(hold(Promise.resolve()))
    expect(db.statistics().total_conns).toBe(others + 2)
  })
  const holders = hold(gate.promise)
  await eventually(() => expect(db.statistics().acquired_conns).toBe(2))
  // The holders keep their connections until this call has failed.
  await expect(db.transaction(tx => tx.rows(echo, { value: 1 }))).rejects.toMatchObject(busy)
  gate.resolve()
  await Promise.all(holders)
  expect(await db.transaction(tx => tx.rows(echo, { value: 1 }))).toEqual([{ value: 1 }])
})

test('a transaction that is idle for too long is ended by the server and fails as "unavailable"', async () => {
  const db = await useTestDatabase({ poolSize: 1 })
  const dawdle = async (tx: Transaction) => {
    await tx.rows(echo, { value: 1 })
    // The server's limit is 2 seconds.
    await delay(2_500)
    await tx.rows(echo, { value: 2 })
  }
  const dawdled = db.transaction(dawdle, { deadlineAt: performance.now() + 10_000 })
  await expect(dawdled).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
  expect(await db.transaction(tx => tx.rows(echo, { value: 3 }))).toEqual([{ value: 3 }])
})

test('every pipelined database statement gets its own result', async () => {
  const db = await useNotes({ sharedConnections: 1 })
  const numbers = Array.from({ length: 2_000 }, (_, i) => i)
  const answers = await Promise.all(numbers.map(i => db.rows(echo, { value: i })))
  expect(answers.map(rows => rows[0]?.value)).toEqual(numbers)
})

test('an error in one pipelined statement fails no other', async () => {
  const db = await useNotes({ sharedConnections: 1 })
  const answers = await Promise.allSettled(
    Array.from({ length: 300 }, (_, i) =>
      i % 3 === 0 ? db.rows(divideBy, { divisor: 0 }) : db.rows(echo, { value: i })
    )
  )
  for (const [i, answer] of answers.entries()) {
    if (i % 3 === 0) expect(answer).toMatchObject({ status: 'rejected', reason: { code: '22012' } })
    else expect(answer).toEqual({ status: 'fulfilled', value: [{ value: i }] })
  }
})

test('each pipelined write to the database is a separate transaction', async () => {
  const db = await useNotes({ sharedConnections: 1 })
  const [first, second, third] = await Promise.allSettled([
    db.run(insertNote, { id: 3, count: 3 }),
    db.run(insertNote, { id: 1, count: 1 }),
    db.run(insertNote, { id: 4, count: 4 })
  ])
  expect([first.status, second.status, third.status]).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect((await db.rows(listNotes)).map(row => row.id)).toEqual([1, 2, 3, 4])
})

test('a database bigint beyond 2^53 is reported as an error, and never rounded', async () => {
  const db = await useNotes({ sharedConnections: 1 })
  const [large, small] = await Promise.allSettled([db.rows(tooLarge), db.rows(echo, { value: 1 })])
  expect(large).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) })
  expect(small).toMatchObject({ status: 'fulfilled' })
  await expect(db.transaction(tx => tx.rows(tooLarge))).rejects.toThrow(RangeError)
  await db.run(insertNote, { id: 3, count: Number.MAX_SAFE_INTEGER })
  expect(await db.rows(findNote, { id: 3 })).toEqual([{ count: Number.MAX_SAFE_INTEGER }])
})

test('a connection stays usable after a parameter that cannot be serialized', async () => {
  const db = await useNotes({ sharedConnections: 1, poolSize: 1 })
  const circular: Record<string, unknown> = {}
  circular.self = circular
  await expect(db.rows(echo, { value: circular as never })).rejects.not.toBeInstanceOf(DomainError)
  await expect(db.transaction(tx => tx.rows(echo, { value: circular as never }))).rejects.not.toBeInstanceOf(
    DomainError
  )
  // The driver believes that its closed statement exists: the first call fails, and the next succeeds.
  const isAnswered = (rows: unknown) => expect(rows).toEqual([{ value: 1 }])
  await eventually(async () => isAnswered(await db.rows(echo, { value: 1 })))
  await eventually(async () => isAnswered(await db.transaction(tx => tx.rows(echo, { value: 1 }))))
})

test('a connection to a database server that became read-only is replaced', async () => {
  const db = await useNotes({ poolSize: 1, sharedConnections: 1 })
  const pidOf = () => db.transaction(async tx => (await tx.rows(backendPid))[0]?.pid)
  const before = await pidOf()
  const failed = db.transaction(async tx => {
    await tx.run(readOnlyServer)
    await tx.run(addToNote, { id: 1, more: 1 })
  })
  await expect(failed).rejects.toMatchObject({ code: 'DATABASE_READ_ONLY' })
  expect(await pidOf()).not.toBe(before)
})

test('connection settings in the database URL apply unless Cartwright sets them', async () => {
  const url = new URL(await useTestDatabaseUrl())
  url.searchParams.set('options', '-c work_mem=7MB -c timezone=Asia/Tokyo')
  const db = await useTestDatabase({ url: url.href })
  const settings = ['work_mem', 'timezone', 'statement_timeout', 'default_transaction_read_only']
  const values = await Promise.all(
    settings.map(async name => (await db.rows(readSetting, { name }))[0]?.value)
  )
  expect(values).toEqual(['7MB', 'UTC', '1s', 'off'])
})

test('a statement that writes runs without sequential scans, in a transaction and outside of one', async () => {
  const db = await useNotes()
  const planned = statement({
    name: 'test.insert_planned',
    takes: { id: 'int4' },
    gives: { setting: 'text' },
    text: `insert into public.notes (id, count) values ($id, 0) returning current_setting('enable_seqscan') as setting`
  })
  expect(await db.first(planned, { id: 3 })).toEqual({ setting: 'off' })
  expect(await db.transaction(tx => tx.first(planned, { id: 4 }))).toEqual({ setting: 'off' })
})

test('slow statements wait for each other up to a limit, and quick ones do not wait for them', async () => {
  const db = await useNotes({ slowConnections: 1, poolWaitMs: 400 })
  await db.rows(search, { seconds: 0 })
  const order: string[] = []
  const slow = db.rows(search, { seconds: 1 }).then(() => order.push('slow'))
  const next = Promise.allSettled([db.rows(search, { seconds: 0 })])
  await Promise.all([
    db.ping(),
    db.rows(echo, { value: 1 }),
    db.transaction(tx => tx.rows(echo, { value: 1 }))
  ])
  order.push('quick')
  await slow
  expect(order).toEqual(['quick', 'slow'])
  expect(await next).toMatchObject([{ status: 'rejected', reason: busy }])
  await eventually(() => Promise.all([0.05, 0].map(seconds => db.rows(search, { seconds }))))
  expect(db.statistics()).toMatchObject({ acquired_conns: 0 })
})

test('a slow statement whose connection breaks fails as "unavailable", and the next one succeeds', async () => {
  const db = await useNotes({ slowConnections: 1 })
  const searching = db.rows(search, { seconds: 5 })
  const isSearching = async () => {
    await db.run(killOthers)
    await expect(Promise.race([searching, delay(50)])).rejects.toMatchObject({ code: 'DATABASE_UNAVAILABLE' })
  }
  searching.catch(() => {})
  await eventually(isSearching)
  expect(await db.rows(search, { seconds: 0 })).toHaveLength(1)
  expect(db.statistics()).toMatchObject({ acquired_conns: 0 })
})

test('the pool statistics count the connections and measure the waits for them', async () => {
  const db = await useNotes({ poolSize: 2, sharedConnections: 1, poolWaitMs: 5_000 })
  const before = db.statistics()
  expect(before).toMatchObject({ max_conns: 15, total_conns: 1, acquired_conns: 0, idle_conns: 1 })
  expect(before).toMatchObject({ acquire_count: 3, empty_acquire_count: 1 })
  expect(before.acquire_duration_ms).toBeGreaterThan(0)

  const gate = Promise.withResolvers<void>()
  const hold = () => db.transaction(() => gate.promise)
  const holders = [hold(), hold(), hold()]
  await eventually(() => expect(db.statistics().total_conns).toBe(3))
  const asleep = db.run(sleep, { seconds: 0.3 })
  await eventually(() => expect(db.statistics().acquired_conns).toBe(3))
  // The table was created over a connection for single writes.
  expect(db.statistics().idle_conns).toBe(1)
  await asleep
  gate.resolve()
  await Promise.all(holders)
  const after = db.statistics()
  expect(after).toMatchObject({ max_conns: 15, total_conns: 4, acquired_conns: 0, idle_conns: 4 })
  expect(after).toMatchObject({ acquire_count: 7, empty_acquire_count: 5 })
  // The third holder waited for as long as the statement slept.
  expect(after.acquire_duration_ms - before.acquire_duration_ms).toBeGreaterThan(250)
})

test('ten thousand transactions, every fifth failing, leak no connection', async () => {
  const warnings: Error[] = []
  const note = (warning: Error) => warnings.push(warning)
  process.on('warning', note)
  onTestFinished(() => {
    process.off('warning', note)
  })
  const db = await useTestDatabase()
  let turn = 0
  const worker = async () => {
    while (turn < 10_000) {
      turn += 1
      const isBad = turn % 5 === 0
      const done = db.transaction(async tx => {
        await tx.rows(echo, { value: turn })
        if (isBad) throw refused()
      })
      await done.catch(error => expect(error).toMatchObject({ code: 'TEST_REFUSED' }))
    }
  }
  await Promise.all(Array.from({ length: 16 }, worker))
  expect(warnings).toEqual([])
  expect(db.statistics()).toMatchObject({ acquired_conns: 0, acquire_count: 10_000 })
  expect(db.statistics().total_conns).toBeLessThanOrEqual(8)
  expect(await db.rows(countIdle)).toEqual([{ count: 0 }])
})
