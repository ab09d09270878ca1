import { once } from 'node:events'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { useProxiedDatabase } from '../../../../test/faults/postgres-proxy.ts'
import { watchCommits } from '../../../../test/faults/postgres-wire.ts'
import { testDatabaseOptions } from '../../../../test/support/database.ts'
import { openDatabase } from '../database.ts'
import { statement } from '../statement.ts'
import type { DedicatedConnectionOptions } from './dedicated-connection.ts'
import type { Transaction } from './transaction.ts'

const createMarks = statement({
  name: 'apart.create_marks',
  text: 'create table public.marks (id int primary key)'
})
const insertMark = statement({
  name: 'apart.insert_mark',
  takes: { id: 'int4' },
  text: 'insert into public.marks (id) values ($id)'
})
const listMarks = statement({
  name: 'apart.list_marks',
  gives: { id: 'int4' },
  text: 'select id from public.marks order by id'
})
const addColumn = statement({ name: 'apart.add_column', text: 'alter table public.marks add column a int' })
const allMarks = statement({
  name: 'apart.all_marks',
  gives: { id: 'int4' },
  text: 'select marks.* from public.marks'
})
const scans = statement({
  name: 'apart.scans',
  gives: { setting: 'text' },
  text: `select current_setting('enable_seqscan') as setting`
})

async function useApart(options: DedicatedConnectionOptions = {}) {
  const commits = watchCommits()
  const { url, directUrl, proxy } = await useProxiedDatabase(commits.watch)
  const counted: string[] = []
  const onStatement = (name: string) => counted.push(name)
  const db = openDatabase({ ...testDatabaseOptions(url), onStatement })
  const direct = openDatabase(testDatabaseOptions(directUrl))
  await direct.run(createMarks)
  const dedicated = db.dedicated(options)
  onTestFinished(async () => {
    commits.restore()
    await proxy.restore()
    await db.close()
    await direct.close()
  })
  const attempt = <T>(work: (tx: Transaction) => Promise<T>, milliseconds = 60_000) =>
    dedicated.attempt(work, { deadlineAt: performance.now() + milliseconds })
  const marks = async () => (await direct.rows(listMarks)).map(({ id }) => id)
  return { attempt, marks, commits, direct, directUrl, counted, db, apart: dedicated }
}

const mark = (id: number) => (tx: Transaction) => tx.run(insertMark, { id })

test('committed work on the dedicated connection is "done", and its statements and waits are not counted', async () => {
  const { attempt, marks, counted, db } = await useApart({ settings: { enable_seqscan: 'off' } })
  const before = db.statistics()
  expect(await attempt(mark(1))).toEqual({ kind: 'done', value: 1 })
  const setting = await attempt(tx => tx.first(scans))
  expect(setting).toEqual({ kind: 'done', value: { setting: 'off' } })
  expect(await marks()).toEqual([1])
  expect(counted).toEqual([])
  expect(db.statistics()).toEqual({ ...before, total_conns: 1, idle_conns: 1 })
})

test('work on the dedicated connection that throws, or that the server rejects, is rolled back as "undone"', async () => {
  const { attempt, marks } = await useApart()
  await attempt(mark(1))
  const refused = await attempt(async tx => {
    await mark(2)(tx)
    await mark(1)(tx)
  })
  expect(refused).toMatchObject({ kind: 'undone', error: { code: '23505' } })
  const reason = new Error('the reason')
  const thrown = await attempt(async tx => {
    await mark(3)(tx)
    throw reason
  })
  expect(thrown).toEqual({ kind: 'undone', error: reason })
  expect(await attempt(mark(4), 0)).toMatchObject({ kind: 'undone', error: { code: 'DATABASE_BUSY' } })
  expect(await marks()).toEqual([1])
})

test('a statement sent together with COMMIT commits with it, and its failure rolls everything back', async () => {
  const { attempt, marks } = await useApart()
  const both = (one: number, two: number) =>
    attempt(async tx => {
      await mark(one)(tx)
      tx.withCommit(mark(two))
    })
  expect(await both(1, 2)).toMatchObject({ kind: 'done' })
  expect(await both(3, 2)).toMatchObject({ kind: 'undone', error: { code: '23505' } })
  expect(await marks()).toEqual([1, 2])
})

test('when one statement sent together with COMMIT fails, the outcome is "undone" and nothing is written', async () => {
  const { attempt, marks } = await useApart()
  expect(await attempt(mark(1))).toMatchObject({ kind: 'done' })
  const work = async (tx: Transaction) =>
    tx.withCommit(each => Promise.all([mark(2)(each), mark(1)(each), mark(3)(each)]))
  expect(await attempt(work)).toMatchObject({ kind: 'undone', error: { code: '23505' } })
  expect(await marks()).toEqual([1])
})

test('when a statement to be sent with COMMIT cannot be sent, nothing is committed', async () => {
  const { attempt, marks } = await useApart()
  const attempted = await attempt(async tx => {
    await mark(1)(tx)
    tx.withCommit(() => Promise.all([mark(2)(tx), tx.run(insertMark, {} as { id: number })]))
  })
  expect(attempted).toMatchObject({ kind: 'undone', error: { message: 'apart.insert_mark lacks id' } })
  expect(await marks()).toEqual([])
  expect(await attempt(mark(3))).toMatchObject({ kind: 'done' })
})

test('work on the dedicated connection that waits longer than the lock timeout has the outcome "locked"', async () => {
  const { attempt, marks, direct } = await useApart({ lockTimeoutMs: 50 })
  const released = Promise.withResolvers<void>()
  const isHeld = Promise.withResolvers<void>()
  const held = direct.transaction(async tx => {
    await mark(1)(tx)
    isHeld.resolve()
    await released.promise
  })
  await isHeld.promise
  expect(await attempt(mark(1))).toEqual({ kind: 'locked' })
  released.resolve()
  await held
  expect(await attempt(mark(2))).toMatchObject({ kind: 'done' })
  expect(await marks()).toEqual([1, 2])
})

test.each([
  ['the response to a commit is lost', 'to_program', [1]],
  ['a commit does not reach the server', 'to_server', []]
] as const)('when %s, the outcome of the transaction is "unknown"', async (_, direction, left) => {
  const { attempt, marks, commits } = await useApart()
  await attempt(async tx => tx.rows(listMarks))
  commits.breakAt(direction, 'reset', 1)
  const attempted = await attempt(mark(1))
  commits.restore()
  expect(attempted).toMatchObject({ kind: 'unknown', error: { code: 'DATABASE_UNAVAILABLE' } })
  expect(await marks()).toEqual(left)
  expect(await attempt(mark(2))).toMatchObject({ kind: 'done' })
})

test('when the response to a COMMIT sent with other statements is lost, the outcome is "unknown"', async () => {
  const { attempt, marks, commits } = await useApart()
  commits.breakAt('to_program', 'reset', 1)
  const attempted = await attempt(async tx => {
    await mark(1)(tx)
    tx.withCommit(mark(2))
  })
  expect(attempted).toMatchObject({ kind: 'unknown' })
  expect(await marks()).toEqual([1, 2])
})

test('work whose connection ends before COMMIT is sent has the outcome "undone"', async () => {
  const { attempt, marks, directUrl } = await useApart()
  const attempted = await attempt(async tx => {
    await mark(1)(tx)
    const killer = new pg.Client({ connectionString: directUrl })
    await killer.connect()
    await killer.query(
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and state = 'idle in transaction'`
    )
    const ended = once(killer, 'end')
    await Promise.all([killer.end(), ended])
    await mark(2)(tx)
  })
  expect(attempted).toMatchObject({ kind: 'undone', error: { code: 'DATABASE_UNAVAILABLE' } })
  expect(await marks()).toEqual([])
})

test('a prepared statement whose columns change in a migration succeeds at its next run', async () => {
  const { attempt, direct } = await useApart()
  expect(await attempt(tx => tx.rows(allMarks))).toEqual({ kind: 'done', value: [] })
  await direct.run(addColumn)
  expect(await attempt(tx => tx.rows(allMarks))).toEqual({ kind: 'done', value: [] })
})

test('the closed dedicated connection rejects work', async () => {
  const { attempt, apart: dedicated } = await useApart()
  await attempt(mark(1))
  await dedicated.close()
  expect(await attempt(mark(2))).toMatchObject({ kind: 'undone', error: { code: 'DATABASE_UNAVAILABLE' } })
})
