import { expect, onTestFinished, test } from 'vitest'
import { openBroadcast } from '../../../src/platform/broadcast.ts'
import { pgClientConfig } from '../../../src/platform/postgres/connect.ts'
import { DatabaseHosts } from '../../../src/platform/postgres/connections/hosts.ts'
import { openDatabase } from '../../../src/platform/postgres/database.ts'
import { statement } from '../../../src/platform/postgres/statement.ts'
import { testDatabaseOptions } from '../../support/database-options.ts'
import { startProgram } from '../../support/program.ts'
import { type TestCluster, usePrimaryAndStandby } from '../../support/standby.ts'
import { until } from '../until.ts'

/** Time from the promotion to the first write. The rest is for a busy machine. */
const FIRST_WRITE_MS_MAX = 2_000 + 1_500

const insert = statement({
  name: 'test.insert',
  takes: { id: 'int4' },
  text: 'insert into writes (id) values ($id)'
})

const gives = { port: 'int4' } as const
const findPort = statement({ name: 'test.find_port', gives, text: 'select inet_server_port() as port' })
const findPortSlowly = statement({
  name: 'test.find_port_slowly',
  gives,
  slow: true,
  text: 'select inet_server_port() as port'
})

const urlOf = (clusters: readonly TestCluster[]) =>
  `postgres://cartwright@${clusters.map(({ host }) => host).join(',')}/shop?target_session_attrs=read-write`

const idsOf = async (cluster: TestCluster) =>
  (await cluster.sql('select id from writes order by id')).map(({ id }) => id)

/** A database with the table of writes, opened by a URL that names the standby first. */
async function useWrites() {
  const { primary, standby } = await usePrimaryAndStandby()
  await primary.sql('create table writes (id int primary key)')
  const url = urlOf([standby, primary])
  const options = { ...testDatabaseOptions(url), hosts: new DatabaseHosts(url), poolWaitMs: 500 }
  const db = openDatabase(options)
  // Its heartbeats notice that a server does not answer, as in the program.
  const broadcast = await openBroadcast(pgClientConfig(options), db.closeDeadConnections)
  onTestFinished(async () => {
    await broadcast.close()
    await db.close()
  })
  const write = (id: number) => db.transaction(tx => tx.run(insert, { id }))
  await until('a write succeeds', () => write(1).then(() => true))
  await until('the standby has it', async () => (await idsOf(standby)).length === 1)
  return { primary, standby, db, write }
}

/** Begins a write every 50 ms until one succeeds. Returns the ids of those that succeeded, when all have ended. */
async function firstWrites(write: (id: number) => Promise<unknown>) {
  const acknowledged: number[] = []
  const writing: Promise<unknown>[] = []
  let next = performance.now()
  const elapsed = await until('a write succeeds on the new primary', () => {
    if (performance.now() >= next) {
      const id = 100 + writing.length
      writing.push(
        write(id).then(
          () => acknowledged.push(id),
          () => {}
        )
      )
      next += 50
    }
    return acknowledged.length > 0
  })
  return { acknowledged, elapsed, all: Promise.all(writing) }
}

test('with several hosts in the URL, writes go to the new primary within two seconds of its promotion', {
  timeout: 60_000
}, async () => {
  const { primary, standby, write } = await useWrites()
  primary.signal('SIGKILL')
  await expect(write(2)).rejects.toThrow()
  await standby.sql('select pg_promote()')
  const { acknowledged, elapsed, all } = await firstWrites(write)
  expect(elapsed).toBeLessThan(FIRST_WRITE_MS_MAX)
  await all
  expect(await idsOf(standby)).toEqual(expect.arrayContaining([1, ...acknowledged]))
})

test('a frozen primary that comes back after a failover gets no write', { timeout: 60_000 }, async () => {
  const { primary, standby, db, write } = await useWrites()
  primary.signal('SIGSTOP')
  await standby.sql('select pg_promote()')
  const { acknowledged, elapsed } = await firstWrites(write)
  expect(elapsed).toBeLessThan(FIRST_WRITE_MS_MAX)
  primary.signal('SIGCONT')
  const later = Array.from({ length: 60 }, (_, nth) => 1_000 + nth)
  for (const each of later) await (each % 2 === 0 ? write(each) : db.run(insert, { id: each }))
  expect(await idsOf(standby)).toEqual(expect.arrayContaining([1, ...acknowledged, ...later]))
  // It may still get the writes that were sent while it was frozen, which were not acknowledged.
  const lost = new Set(await idsOf(primary))
  expect([...acknowledged, ...later].filter(id => lost.has(id))).toEqual([])
  const left = `select 1 from pg_stat_activity where application_name = 'cartwright'`
  await until('no connection to the old primary is left', async () => (await primary.sql(left)).length === 0)
})

test('a URL whose hosts are all standbys is refused with the reason for each', {
  timeout: 60_000
}, async () => {
  const { standby } = await usePrimaryAndStandby()
  const program = startProgram({ DATABASE_URL: urlOf([standby]) })
  const { code, stderr } = await program.ended
  expect(code).toBe(1)
  expect(stderr).toMatch(/^Cannot reach the database: it is a standby, which can only be read\./)
})

test('all connections of a process that only reads lead to one of its hosts', {
  timeout: 60_000
}, async () => {
  const { primary, standby } = await usePrimaryAndStandby()
  const url = `postgres://cartwright@${standby.host},${primary.host}/shop`
  const hosts = new DatabaseHosts(url, 'one replica')
  const db = openDatabase({ ...testDatabaseOptions(url), hosts, isReadOnly: true })
  onTestFinished(() => db.close())
  const portOf = ({ host }: TestCluster) => Number(host.split(':')[1])
  const ports = async () =>
    new Set((await Promise.all([db.first(findPort), db.first(findPortSlowly)])).map(row => row?.port))
  const leadTo = (cluster: TestCluster) => async () => [...(await ports())].join() === `${portOf(cluster)}`
  await until('the first host is used', leadTo(standby))
  hosts.leave(0)
  // Each reading connection is used. Those that a change of the host closed are opened again.
  await db.ping()
  await until('the second host is used by all', leadTo(primary), 10_000)
})
