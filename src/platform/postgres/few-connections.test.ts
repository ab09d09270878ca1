import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { useLimitedDatabase } from '../../../test/faults/connection-limit.ts'
import { until } from '../../../test/faults/until.ts'
import { openAll, testDatabaseOptions } from '../../../test/support/database.ts'
import { type Database, openDatabase } from './database.ts'
import { statement } from './statement.ts'

/** The shortest time that any kind of work may wait for a connection, in milliseconds. */
const WAIT_MS_MIN = 900

const read = statement({ name: 'test.few_read', gives: { one: 'int4' }, text: 'select 1 as one' })
const search = statement({
  name: 'test.few_search',
  gives: { mode: 'text' },
  text: `
  select current_setting('plan_cache_mode') as mode`,
  slow: true
})
const insert = statement({
  name: 'test.few_insert',
  takes: { id: 'int4' },
  text: 'insert into public.few (id) values ($id)'
})
const count = statement({
  name: 'test.few_count',
  gives: { rows: 'int4' },
  text: 'select count(*)::int as rows from public.few'
})

async function useDatabase(connections: number) {
  const limited = await useLimitedDatabase(connections)
  const owner = new pg.Client({ connectionString: limited.directUrl })
  await owner.connect()
  await owner.query('create table public.few (id int)')
  await owner.end()
  const db = openDatabase({ ...testDatabaseOptions(limited.url), poolWaitMs: 5_000 })
  onTestFinished(db.close)
  return { ...limited, db }
}

/** One call of every kind of work. */
const everyKind = (db: Database, id: number): (() => Promise<unknown>)[] => [
  () => db.rows(read),
  () => db.rows(search),
  () => db.run(insert, { id }),
  () => db.transaction(tx => tx.run(insert, { id })),
  () => db.ping()
]
const together = (works: readonly (() => Promise<unknown>)[]) => Promise.all(works.map(work => work()))

test.each([2, 3, 8])(
  'with %d database connections every kind of work succeeds, one after another and simultaneously',
  async most => {
    const { db } = await useDatabase(most)
    for (let round = 0; round < 5; round += 1) for (const work of everyKind(db, round)) await work()
    const rounds = Array.from({ length: 4 }, (_, round) => everyKind(db, round))
    await together(rounds.flat())
    expect(await db.rows(count)).toEqual([{ rows: 18 }])
    expect(db.isOutOfConnections()).toBe(false)
  }
)

test.each([2, 3, 8])('with %d database connections no kind of work starves the others', async most => {
  const { db } = await useDatabase(most)
  const [read, ...others] = everyKind(db, 1)
  const done = others.map(() => 0)
  const refusedEarly: unknown[] = []
  const isOver = () => refusedEarly.length > 0 || Math.min(...done) >= 50 || Math.max(...done) >= 1_000
  const repeat = async (work: (() => Promise<unknown>) | undefined, onDone = () => {}) => {
    while (!isOver()) {
      const startedAt = performance.now()
      await work?.().then(onDone, error => {
        // On a slow machine, work that waited for its whole timeout may be rejected.
        if (performance.now() - startedAt < WAIT_MS_MIN) refusedEarly.push(error)
      })
    }
  }
  const count = (kind: number) => () => {
    done[kind] = (done[kind] ?? 0) + 1
  }
  const twice = [...others.entries(), ...others.entries()]
  await Promise.all([...twice.map(([kind, work]) => repeat(work, count(kind))), repeat(read)])
  expect(refusedEarly).toEqual([])
  expect(Math.min(...done)).toBeGreaterThan(Math.max(...done) / 10)
})

test('a database connection that another kind of work takes over has the settings of that work', async () => {
  const { db } = await useDatabase(2)
  await db.transaction(tx => tx.run(insert, { id: 1 }))
  expect(await db.rows(search)).toEqual([{ mode: 'force_custom_plan' }])
  await db.run(insert, { id: 2 })
  await db.transaction(tx => tx.run(insert, { id: 3 }))
})

test('while the server accepts no connections the database is reported as out of connections, and recovers afterwards', async () => {
  const { db, setLimit, endAll } = await useDatabase(4)
  await together(everyKind(db, 1))
  setLimit(0)
  endAll()
  const outcomes = await Promise.allSettled(everyKind(db, 2).map(work => work()))
  expect(outcomes.map(({ status }) => status)).toEqual(Array(5).fill('rejected'))
  expect(db.isOutOfConnections()).toBe(true)
  setLimit(4)
  await until(
    'every kind of work has a connection, without a request for one',
    () => !db.isOutOfConnections()
  )
  await together(everyKind(db, 3))
})

test('idle connections are closed when the server rejects new ones', async () => {
  const { db, setLimit } = await useDatabase(20)
  await openAll(db, testDatabaseOptions('').poolSize)
  const before = db.statistics().total_conns
  expect(before).toBeGreaterThan(3)
  setLimit(before)
  await db.rows(search)
  await until('idle connections are closed', () => db.statistics().total_conns < before)
})
