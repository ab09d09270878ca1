import { expect, onTestFinished, test } from 'vitest'
import { sumBy } from '../../../src/kernel/sum-by.ts'
import { DatabaseHosts } from '../../../src/platform/postgres/connections/hosts.ts'
import { type Database, openDatabase } from '../../../src/platform/postgres/database.ts'
import { statement } from '../../../src/platform/postgres/statement.ts'
import { testDatabaseOptions } from '../../support/database-options.ts'
import { type TestCluster, usePrimaryAndStandby } from '../../support/standby.ts'
import { until } from '../until.ts'

const insert = statement({
  name: 'test.replica_insert',
  takes: { id: 'int4' },
  text: 'insert into writes (id) values ($id)'
})
const list = statement({
  name: 'test.replica_list',
  gives: { id: 'int4', is_replica: 'bool' },
  slow: true,
  text: 'select id, pg_is_in_recovery() as is_replica from writes order by id'
})
const listToRepair = statement({
  name: 'test.replica_list_to_repair',
  gives: { is_replica: 'bool' },
  slow: true,
  primaryOnly: true,
  text: 'select pg_is_in_recovery() as is_replica'
})

function useDatabase(primary: TestCluster, replicaUrl: string): Database {
  const replica = { url: replicaUrl, hosts: new DatabaseHosts(replicaUrl, 'replicas') }
  const db = openDatabase({ ...testDatabaseOptions(primary.url), replica })
  onTestFinished(() => db.close())
  return db
}

const isReplicaUsed = (db: Database) => db.replicaStatistics()?.problem === null
const problemOf = (db: Database) => db.replicaStatistics()?.problem
const fallbacksOf = (db: Database) => db.replicaStatistics()?.reads.primary ?? Number.NaN

/** Two processes of a shop with a replica, and a table that they write. */
async function useTwoProcesses() {
  const { primary, standby } = await usePrimaryAndStandby()
  await primary.sql('create table writes (id int primary key)')
  const [one, two] = [useDatabase(primary, standby.url), useDatabase(primary, standby.url)]
  for (const db of [one, two]) await until('the replica is used', () => isReplicaUsed(db))
  let id = 0
  /** Each process writes and the other one reads, in turn. Returns how many reads the replica answered. */
  const writeAndRead = async (times: number) => {
    let byReplica = 0
    for (let count = 0; count < times; count += 1) {
      id += 1
      const [writer, reader] = id % 2 === 0 ? [one, two] : [two, one]
      await writer.transaction(tx => tx.run(insert, { id }))
      const rows = await reader.rows(list)
      expect(rows.at(-1)?.id).toBe(id)
      if (rows.at(-1)?.is_replica) byReplica += 1
    }
    return byReplica
  }
  return { primary, standby, one, two, writeAndRead }
}

test('slow reads see every commit of every process: on the replica, and while it lags, is killed or frozen', {
  timeout: 90_000
}, async () => {
  const { standby, one, two, writeAndRead } = await useTwoProcesses()
  const both = [one, two]
  const isUsed = async () => {
    for (const db of both) await until('the replica is used', () => isReplicaUsed(db))
  }
  const isNoticed = async (problem: RegExp) => {
    for (const db of both) await until('it is noticed', () => problem.test(problemOf(db) ?? ''))
  }
  // On a busy machine the replica may be late for a few.
  expect(await writeAndRead(100)).toBeGreaterThan(70)
  expect(await one.rows(listToRepair)).toEqual([{ is_replica: false }])
  expect(await one.transaction(tx => tx.rows(list))).toContainEqual({ id: 1, is_replica: false })
  const reads = both.map(db => db.replicaStatistics()?.reads ?? { replica: 0, primary: 0 })
  expect(sumBy(reads, ({ replica, primary }) => replica + primary)).toBe(100)

  // An idle primary does not make the lag grow.
  const age = 'select extract(epoch from now() - pg_last_xact_replay_timestamp())::float8 as seconds'
  await until('the last commit is old', async () => Number((await standby.sql(age))[0]?.seconds) > 2.5)
  expect(one.replicaStatistics()?.lagSeconds).toBeLessThan(1.5)

  await standby.sql('select pg_wal_replay_pause()')
  expect(await writeAndRead(20)).toBe(0)
  await isNoticed(/^it lags/)
  await until('the lag grows', () => (one.replicaStatistics()?.lagSeconds ?? 0) > 2)
  await standby.sql('select pg_wal_replay_resume()')
  await isUsed()
  await until('the lag is over', () => (one.replicaStatistics()?.lagSeconds ?? 9) < 1)
  expect(await writeAndRead(20)).toBeGreaterThan(10)

  standby.signal('SIGKILL')
  expect(await writeAndRead(20)).toBe(0)
  await isNoticed(/^it cannot be reached/)
  await standby.start()
  await isUsed()
  expect(await writeAndRead(20)).toBeGreaterThan(10)

  standby.signal('SIGSTOP')
  const startedAt = performance.now()
  expect(await writeAndRead(2)).toBe(0)
  expect(performance.now() - startedAt).toBeLessThan(1_500)
  standby.signal('SIGCONT')
  await isUsed()
})

test('a promoted replica, and a standby of a former primary that is ahead, get no reads', {
  timeout: 60_000
}, async () => {
  const { primary, standby, one, writeAndRead } = await useTwoProcesses()
  await writeAndRead(1)
  await standby.sql('select pg_promote()')
  await until('it is noticed', () => problemOf(one) === 'it is not a standby')
  // The former primary goes on, and comes back as a standby with commits that the new one does not have.
  await primary.sql('insert into writes select generate_series(1001, 1100)')
  await primary.sql('select pg_switch_wal()')
  await primary.stop()
  await primary.start({ asStandby: true })
  const db = useDatabase(standby, primary.url)
  await until('it is noticed', () => /^its timeline is 00000001/.test(problemOf(db) ?? ''))
  const fallbacks = fallbacksOf(db)
  expect(await db.rows(list)).toEqual([{ id: 1, is_replica: false }])
  expect(fallbacksOf(db)).toBe(fallbacks + 1)
})
