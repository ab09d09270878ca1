import { once } from 'node:events'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { useProxiedDatabase } from '../../../test/faults/postgres-proxy.ts'
import { watchCommits } from '../../../test/faults/postgres-wire.ts'
import { testDatabaseOptions } from '../../../test/support/database.ts'
import type { ApartOptions } from './apart.ts'
import { openDatabase } from './database.ts'
import { statement } from './statement.ts'
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

async function useApart(options: ApartOptions = {}) {
  const commits = watchCommits()
  const { url, directUrl, proxy } = await useProxiedDatabase(commits.watch)
  const counted: string[] = []
  const onStatement = (name: string) => counted.push(name)
  const db = openDatabase({ ...testDatabaseOptions(url), onStatement })
  const direct = openDatabase(testDatabaseOptions(directUrl))
  await direct.run(createMarks)
  const apart = db.apart(options)
  onTestFinished(async () => {
    commits.restore()
    await proxy.restore()
    await db.close()
    await direct.close()
  })
  const attempt = <T>(work: (tx: Transaction) => Promise<T>, milliseconds = 2_000) =>
    apart.attempt(work, { deadlineAt: performance.now() + milliseconds })
  const marks = async () => (await direct.rows(listMarks)).map(({ id }) => id)
  return { attempt, marks, commits, direct, directUrl, counted, db, apart }
}

const mark = (id: number) => (tx: Transaction) => tx.run(insertMark, { id })

test('work that is committed is done, and no counter of statements or connections saw it', async () => {
  const { attempt, marks, counted, db } = await useApart({ settings: { enable_seqscan: 'off' } })
  const before = db.statistics()
  expect(await attempt(mark(1))).toEqual({ kind: 'done', value: 1 })
  const setting = await attempt(tx => tx.first(scans))
  expect(setting).toEqual({ kind: 'done', value: { setting: 'off' } })
  expect(await marks()).toEqual([1])
  expect(counted).toEqual([])
  expect(db.statistics()).toEqual(before)
})

test('what the server refuses, and what the work throws, is undone', async () => {
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

test('what is sent with the commit commits with it, and undoes everything when it is refused', async () => {
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

test('when one of the statements for the commit fails, the others and the commit are undone, which is known', async () => {
  const { attempt, marks } = await useApart()
  expect(await attempt(mark(1))).toMatchObject({ kind: 'done' })
  const work = async (tx: Transaction) =>
    tx.withCommit(each => Promise.all([mark(2)(each), mark(1)(each), mark(3)(each)]))
  expect(await attempt(work)).toMatchObject({ kind: 'undone', error: { code: '23505' } })
  expect(await marks()).toEqual([1])
})

test('when one of the statements for the commit cannot even be sent, nothing is committed', async () => {
  const { attempt, marks } = await useApart()
  const attempted = await attempt(async tx => {
    await mark(1)(tx)
    tx.withCommit(() => Promise.all([mark(2)(tx), tx.run(insertMark, {} as { id: number })]))
  })
  expect(attempted).toMatchObject({ kind: 'undone', error: { message: 'apart.insert_mark lacks id' } })
  expect(await marks()).toEqual([])
  expect(await attempt(mark(3))).toMatchObject({ kind: 'done' })
})

test('who waits too long for a lock is told so', async () => {
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
  ['the answer of a commit is lost', 'to_program', [1]],
  ['a commit does not arrive', 'to_server', []]
] as const)('when %s, it is not known how it ended', async (_, direction, left) => {
  const { attempt, marks, commits } = await useApart()
  await attempt(async tx => tx.rows(listMarks))
  commits.breakAt(direction, 'reset', 1)
  const attempted = await attempt(mark(1))
  commits.restore()
  expect(attempted).toMatchObject({ kind: 'unknown', error: { code: 'DATABASE_UNAVAILABLE' } })
  expect(await marks()).toEqual(left)
  expect(await attempt(mark(2))).toMatchObject({ kind: 'done' })
})

test('the same, when other statements travel with the commit', async () => {
  const { attempt, marks, commits } = await useApart()
  commits.breakAt('to_program', 'reset', 1)
  const attempted = await attempt(async tx => {
    await mark(1)(tx)
    tx.withCommit(mark(2))
  })
  expect(attempted).toMatchObject({ kind: 'unknown' })
  expect(await marks()).toEqual([1, 2])
})

test('a connection that ends before the commit is sent: undone', async () => {
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

test('a migration that changes what a statement gives: it runs again, over another connection', async () => {
  const { attempt, direct } = await useApart()
  expect(await attempt(tx => tx.rows(allMarks))).toEqual({ kind: 'done', value: [] })
  await direct.run(addColumn)
  expect(await attempt(tx => tx.rows(allMarks))).toEqual({ kind: 'done', value: [] })
})

test('one that is closed takes no more work', async () => {
  const { attempt, apart } = await useApart()
  await attempt(mark(1))
  await apart.close()
  expect(await attempt(mark(2))).toMatchObject({ kind: 'undone', error: { code: 'DATABASE_UNAVAILABLE' } })
})
