import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { useProxiedDatabase } from '../../../../test/faults/postgres-proxy.ts'
import { watchCommits } from '../../../../test/faults/postgres-wire.ts'
import { openAll, testDatabaseOptions } from '../../../../test/support/database.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { type Database, openDatabase, type Transaction } from '../database.ts'
import { statement } from '../statement.ts'
import { createStatementBatch } from './statement-batch.ts'

shareShops()

const createNotes = statement({
  name: 'together.create_notes',
  text: `
    do $$ begin
      drop table if exists public.notes;
      create table public.notes (id int primary key, transaction text not null default txid_current()::text, note text);
    end $$`
})
const insertNote = statement({
  name: 'together.insert_note',
  takes: { id: 'int4', note: 'text?' },
  gives: { at: 'int8', transaction: 'text' },
  forEach: true,
  text: `
    with new as materialized (select * from $each),
    made as (insert into public.notes (id, note) select id, note from new returning id, transaction)
    select at, transaction from new join made using (id)`
})
const findNote = statement({
  name: 'together.find_note',
  takes: { id: 'int4' },
  gives: { id: 'int4' },
  text: 'select id from public.notes where id = $id'
})
const addOne = statement({
  name: 'together.add_one',
  takes: { id: 'int4' },
  text: 'insert into public.notes (id) values ($id)'
})
const listNotes = statement({
  name: 'together.list_notes',
  gives: { id: 'int4', transaction: 'text' },
  text: 'select id, transaction from public.notes order by id'
})
const lockNote = statement({
  name: 'together.lock_note',
  takes: { id: 'int4' },
  text: 'select from public.notes where id = $id for update'
})
const findPatience = statement({
  name: 'together.find_patience',
  gives: { patience: 'text' },
  text: `select current_setting('lock_timeout') as patience`
})
const findTimeLimit = statement({
  name: 'together.find_time_limit',
  gives: { milliseconds: 'int4' },
  text: `select setting::int4 as milliseconds from pg_settings where name = 'statement_timeout'`
})
const createTries = statement({
  name: 'together.create_tries',
  text: `
    do $$ begin
      drop sequence if exists public.tries;
      create sequence public.tries;
    end $$`
})
const createRefused = statement({
  name: 'together.create_refused',
  text: `
    create or replace function public.refused(code text) returns text language plpgsql as
    'begin raise exception ''refused'' using errcode = code; end'`
})
const beRefusedOnce = statement({
  name: 'together.be_refused_once',
  takes: { code: 'text' },
  text: `select case when nextval('public.tries') = 1 then public.refused($code) end`
})
const findTooMany = statement({
  name: 'together.find_too_many',
  gives: { count: 'int8' },
  text: 'select 9007199254740993 as count'
})

async function useNotes() {
  const commits = watchCommits()
  const { url, directUrl, proxy } = await useProxiedDatabase(commits.watch)
  const sent: string[] = []
  const db = openDatabase({ ...testDatabaseOptions(url), onStatement: name => sent.push(name) })
  const direct = openDatabase(testDatabaseOptions(directUrl))
  await direct.run(createNotes)
  await openAll(db, 4)
  onTestFinished(async () => {
    commits.restore()
    await proxy.restore()
    await db.close()
    await direct.close()
  })
  sent.length = 0
  const notes = async () => (await direct.rows(listNotes)).map(({ id }) => id)
  const transactions = async () => new Set((await direct.rows(listNotes)).map(row => row.transaction)).size
  return { url: directUrl, db, direct, sent, commits, notes, transactions }
}

const insert = (id: number) => (tx: Transaction) => tx.first(insertNote, { id, note: `"${id}\\ ☂` })
const all = (db: Database, works: readonly ((tx: Transaction) => Promise<unknown>)[]) =>
  Promise.allSettled(works.map(work => db.groupCommit().transaction(work)))
const reasonOf = (settled: PromiseSettledResult<unknown> | undefined) =>
  settled?.status === 'rejected' ? settled.reason : undefined

test('transactions that begin in one event-loop turn share a group commit, and so do their forEach statements', async () => {
  const { db, sent, notes, transactions } = await useNotes()
  const told: number[] = []
  const work = (id: number) => async (tx: Transaction) => {
    tx.afterCommit(() => told.push(id))
    const made = await insert(id)(tx)
    const found = await tx.first(findNote, { id })
    tx.beforeCommit(async last => {
      await last.run(addOne, { id: id + 20 })
    })
    tx.withCommit(last => last.run(addOne, { id: id + 10 }))
    return [made?.at, found?.id]
  }
  const settled = await all(db, [work(1), work(2), work(3)])
  expect(settled.map(each => each.status === 'fulfilled' && each.value)).toEqual([
    [1, 1],
    [2, 2],
    [3, 3]
  ])
  expect(sent).toEqual([
    'together.insert_note',
    ...Array<string>(3).fill('together.find_note'),
    ...Array<string>(6).fill('together.add_one')
  ])
  expect(told).toEqual([1, 2, 3])
  expect([await notes(), await transactions()]).toEqual([[1, 2, 3, 11, 12, 13, 21, 22, 23], 1])
  // Later callers start another transaction; callers outside the group commit have their own.
  await db.groupCommit().transaction(insert(4))
  await Promise.all([5, 6].map(id => db.transaction(insert(id))))
  expect(await transactions()).toBe(4)
})

test('each participant of a group commit gets the row count of its own rows', async () => {
  const { db, transactions } = await useNotes()
  const work = (id: number) => (tx: Transaction) => tx.run(insertNote, { id, note: null })
  const settled = await all(db, [work(1), work(2), work(3)])
  expect(settled.map(each => each.status === 'fulfilled' && each.value)).toEqual([1, 1, 1])
  expect(await transactions()).toBe(1)
})

test('at most 32 transactions share one group commit', async () => {
  const { db, transactions } = await useNotes()
  await all(
    db,
    Array.from({ length: 33 }, (_, id) => insert(id))
  )
  expect(await transactions()).toBe(2)
})

test('a failing participant of a group commit fails no other: each is retried alone and gets its own error', async () => {
  const { db, notes, transactions } = await useNotes()
  await db.transaction(insert(3))
  const mine = new Error('mine')
  const runs = new Map<number, number>()
  const told: number[] = []
  const count = (id: number) => (tx: Transaction) => {
    runs.set(id, (runs.get(id) ?? 0) + 1)
    tx.afterCommit(() => told.push(id))
    return insert(id)(tx)
  }
  const thrown = async (tx: Transaction) => {
    await insert(2)(tx)
    throw mine
  }
  const settled = await all(db, [count(1), thrown, count(3), count(4)])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(reasonOf(settled[1])).toBe(mine)
  expect(reasonOf(settled[2])).toMatchObject({ code: '23505' })
  expect(await notes()).toEqual([1, 3, 4])
  expect(await transactions()).toBe(3)
  expect([...runs.values()]).toEqual([2, 2, 2])
  expect(told.toSorted()).toEqual([1, 4])
})

test('participants of a group commit without an error are retried together while another one fails', async () => {
  const { db, notes, transactions } = await useNotes()
  const mine = new Error('mine')
  let isFirst = true
  const refused = async (tx: Transaction) => {
    await insert(9)(tx)
    throw mine
  }
  const refusedLater = async (tx: Transaction) => {
    await insert(8)(tx)
    if (!isFirst) throw mine
    isFirst = false
  }
  const settled = await all(db, [insert(1), refused, insert(2), refusedLater, insert(3)])
  expect(settled.map(({ status }) => status)).toEqual([
    ...['fulfilled', 'rejected', 'fulfilled', 'rejected', 'fulfilled']
  ])
  expect([reasonOf(settled[1]), reasonOf(settled[3])]).toEqual([mine, mine])
  expect([await notes(), await transactions()]).toEqual([[1, 2, 3], 1])
})

test('a participant of a group commit that fails alone is not retried', async () => {
  const { db } = await useNotes()
  await db.transaction(insert(1))
  let runs = 0
  const failed = db.groupCommit().transaction(tx => {
    runs += 1
    return insert(1)(tx)
  })
  await expect(failed).rejects.toMatchObject({ code: '23505' })
  expect(runs).toBe(1)
})

test('group commit work that the server rejects at COMMIT is retried', async () => {
  const { db, notes } = await useNotes()
  await db.transaction(insert(9))
  const refused = async (tx: Transaction) => {
    await insert(2)(tx)
    tx.withCommit(last => last.run(addOne, { id: 9 }))
  }
  const settled = await all(db, [insert(1), refused])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(reasonOf(settled[1])).toMatchObject({ code: '23505' })
  expect(await notes()).toEqual([1, 9])
})

test("a participant of a group commit that hides a statement's error is rejected alone", async () => {
  const { db, notes } = await useNotes()
  await db.transaction(insert(9))
  const silent = async (tx: Transaction) => {
    await insert(2)(tx)
    await tx.run(addOne, { id: 9 }).catch(() => {})
  }
  const settled = await all(db, [insert(1), silent])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(reasonOf(settled[1])).toMatchObject({
    message: expect.stringContaining('its error was not handled')
  })
  expect(await notes()).toEqual([1, 9])
})

test('a participant of a group commit that waits for a lock delays the others for the lock timeout at most', async () => {
  const { db, direct, notes } = await useNotes()
  await db.transaction(insert(1))
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>()
  const { promise: mayGo, resolve: go } = Promise.withResolvers<void>()
  const holder = direct.transaction(async tx => {
    await tx.run(lockNote, { id: 1 })
    locked()
    await mayGo
  })
  await isLocked
  const waits = db.groupCommit().transaction(tx => tx.run(lockNote, { id: 1 }))
  await db.groupCommit().transaction(insert(2))
  expect(await notes()).toEqual([1, 2])
  go()
  await Promise.all([holder, waits])
})

test('the lock timeout of a group commit is shorter than that of a single transaction', async () => {
  const { db } = await useNotes()
  const patience = async (tx: Transaction) => (await tx.first(findPatience))?.patience
  const together = () => db.groupCommit().transaction(patience)
  expect(await Promise.all([together(), together()])).toEqual(['50ms', '50ms'])
  expect([await together(), await db.transaction(patience)]).toEqual(['200ms', '200ms'])
})

test('the earliest deadline of its participants applies to a whole group commit', async () => {
  const { db } = await useNotes()
  const startedAt = performance.now()
  const limits = [3_000, 2_000].map(ms =>
    db.groupCommit().transaction(tx => tx.first(findTimeLimit), { deadlineAt: startedAt + ms })
  )
  for (const limit of await Promise.all(limits)) expect(limit?.milliseconds).toBeLessThanOrEqual(2_000)
})

test.each([
  ['ended', '57014'],
  ['had no memory for', '53200']
])('a group commit that the server %s at COMMIT is rolled back and retried', async (_, code) => {
  const { db, direct, notes } = await useNotes()
  await direct.run(createTries)
  await direct.run(createRefused)
  const refused = async (tx: Transaction) => {
    await insert(2)(tx)
    tx.withCommit(last => last.run(beRefusedOnce, { code }))
  }
  const settled = await all(db, [insert(1), refused])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  expect(await notes()).toEqual([1, 2])
})

test('a committed group commit is not retried when its response cannot be parsed', async () => {
  const { db, sent, notes } = await useNotes()
  const unread = async (tx: Transaction) => {
    await insert(2)(tx)
    tx.withCommit(last => last.first(findTooMany))
  }
  const settled = await all(db, [insert(1), unread])
  for (const each of settled) expect(reasonOf(each)).toBeInstanceOf(RangeError)
  expect(sent).toEqual(['together.insert_note', 'together.find_too_many'])
  expect(await notes()).toEqual([1, 2])
})

test('no participant of a group commit is retried while its work still runs', async () => {
  const { db, direct } = await useNotes()
  let [underWay, most] = [0, 0]
  const slow = async (tx: Transaction) => {
    underWay += 1
    most = Math.max(most, underWay)
    // As long as it takes to be done again.
    for (let time = 0; time < 10; time += 1) await direct.first(findNote, { id: 1 })
    underWay -= 1
    await insert(1)(tx)
  }
  const refused = async () => {
    throw new Error('mine')
  }
  const settled = await all(db, [slow, refused])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  expect(most).toBe(1)
})

test('a participant of a group commit that throws before its first statement fails alone', async () => {
  const { db, notes, transactions } = await useNotes()
  const mine = new Error('mine')
  const thrown = () => {
    throw mine
  }
  const twice = async (tx: Transaction) => {
    await insert(1)(tx)
    await tx.first(findNote, { id: 1 })
  }
  const settled = await all(db, [twice, thrown, insert(2)])
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(reasonOf(settled[1])).toBe(mine)
  expect([await notes(), await transactions()]).toEqual([[1, 2], 1])
})

test('group commit participants with the same key run one after another', async () => {
  const { db, transactions } = await useNotes()
  const inTurn = (key: string, id: number) => db.groupCommit().serializedBy(key).transaction(insert(id))
  await Promise.all([inTurn('a', 1), inTurn('a', 2), inTurn('b', 3)])
  expect(await transactions()).toBe(2)
  const first = db.serializedBy('c')
  await Promise.all([first.groupCommit().transaction(insert(6)), first.groupCommit().transaction(insert(7))])
  expect(await transactions()).toBe(4)
  // A caller that is serialized by a key alone joins no group commit.
  await Promise.all([4, 5].map(id => db.serializedBy(`alone ${id}`).transaction(insert(id))))
  expect(await transactions()).toBe(6)
})

test.each(['to_server', 'to_program'] as const)(
  "when a COMMIT's response is lost %s, no group commit work is repeated and every caller gets the error",
  async direction => {
    const { db, commits, notes } = await useNotes()
    commits.breakAt(direction, 'reset', 1)
    const settled = await all(db, [insert(1), insert(2)])
    for (const each of settled) expect(reasonOf(each)).toMatchObject({ kind: 'unavailable' })
    commits.restore()
    const done = direction === 'to_program' ? [1, 2] : []
    await expect.poll(notes).toEqual(done)
  }
)

test('a participant of a group commit with an earlier deadline fails in time, and the others commit', async () => {
  const { db, notes } = await useNotes()
  const late = db.groupCommit().transaction(insert(1), { deadlineAt: performance.now() - 1 })
  const others = all(db, [insert(2), insert(3)])
  await expect(late).rejects.toMatchObject({ kind: 'unavailable' })
  expect((await others).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
  expect(await notes()).toEqual([2, 3])
})

test('participants of a group commit that got no connection together do not each wait for one alone', async () => {
  const { url } = await useNotes()
  const { promise: mayGo, resolve: go } = Promise.withResolvers<void>()
  const db = openDatabase({ ...testDatabaseOptions(url), poolSize: 1, poolWaitMs: 500 })
  onTestFinished(() => db.close())
  await openAll(db, 1)
  const holder = db.transaction(() => mayGo)
  const before = db.statistics().acquire_count
  const settled = await all(db, [insert(1), insert(2)])
  for (const each of settled) expect(reasonOf(each)).toMatchObject({ code: 'DATABASE_BUSY' })
  expect(db.statistics().acquire_count - before).toBe(1)
  go()
  await holder
})

test('a participant with little time left runs outside the group commit and does not shorten its deadline', async () => {
  const { db, transactions } = await useNotes()
  const soon = db.groupCommit().transaction(insert(1), { deadlineAt: performance.now() + 999 })
  await Promise.all([soon, all(db, [insert(2), insert(3)])])
  expect(await transactions()).toBe(2)
})

test('a batch of statements keeps the order of each participant and groups equal statements', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 6 })
  const isForEach = (name: string) => name < 'c'
  const sentFor = (lists: readonly (readonly string[])[]) => {
    const message = createStatementBatch(() => {})
    for (const [by, list] of lists.entries()) {
      const asker = {}
      for (const name of list) message.ask(asker, { name, text: '', isForEach: isForEach(name) }, [`[${by}]`])
    }
    return message
      .statements()
      .map(({ name, values }) => ({ name, by: JSON.parse(String(values[0])) as number[] }))
  }
  fc.assert(
    fc.property(fc.array(names, { maxLength: 5 }), lists => {
      const sent = sentFor(lists)
      for (const [who, list] of lists.entries())
        expect(sent.filter(({ by }) => by.includes(who)).map(({ name }) => name)).toEqual(list)
    })
  )
  fc.assert(
    fc.property(names, fc.integer({ min: 1, max: 5 }), (list, count) => {
      const all = Array.from({ length: count }, (_, who) => who)
      const together = list.flatMap(name =>
        isForEach(name) ? [{ name, by: all }] : all.map(who => ({ name, by: [who] }))
      )
      expect(sentFor(all.map(() => list))).toEqual(together)
    })
  )
  // A caller with fewer or other statements in between does not prevent the group commit of the others.
  for (const lists of [
    ['b', 'abd', 'b', 'cab'],
    ['cab', 'b', 'abd', 'b']
  ])
    expect(sentFor(lists.map(list => [...list])).filter(({ name }) => name === 'b')).toHaveLength(1)
})
