import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { useProxiedDatabase } from '../../test/faults/postgres-proxy.ts'
import { until } from '../../test/faults/until.ts'
import { createTestDatabase, testDatabaseOptions, useTestDatabase } from '../../test/support/database.ts'
import { type Broadcast, openBroadcast } from './broadcast.ts'
import { pgClientConfig } from './postgres/connect.ts'
import { openDatabase } from './postgres/database.ts'

type Heard = { messages: string[]; gaps: number }

async function useBroadcast(url: string): Promise<{ broadcast: Broadcast; heard: Heard }> {
  const broadcast = await openBroadcast(pgClientConfig(testDatabaseOptions(url)))
  onTestFinished(() => broadcast.close())
  const heard: Heard = { messages: [], gaps: 0 }
  broadcast.subscribe('topic', {
    onMessage: payload => heard.messages.push(payload),
    onGap: () => {
      heard.gaps += 1
    }
  })
  return { broadcast, heard }
}

async function useDatabase(url: string) {
  const db = openDatabase(testDatabaseOptions(url))
  onTestFinished(() => db.close())
  return db
}

async function useTwo() {
  const created = await createTestDatabase()
  onTestFinished(created.drop)
  const db = await useDatabase(created.url)
  return { db, one: await useBroadcast(created.url), two: await useBroadcast(created.url) }
}

test('a broadcast message reaches every process, the sender included, and only subscribers of its topic', async () => {
  const { db, one, two } = await useTwo()
  const others: string[] = []
  two.broadcast.subscribe('other topic', { onMessage: payload => others.push(payload), onGap: () => {} })
  await db.transaction(tx => one.broadcast.publish(tx, 'topic', 'a b  c'))
  await db.transaction(tx => one.broadcast.publish(tx, 'topic', ''))
  await until(
    'both processes have received both messages',
    () => one.heard.messages.length === 2 && two.heard.messages.length === 2
  )
  expect(one.heard.messages).toEqual(['a b  c', ''])
  expect(two.heard.messages).toEqual(['a b  c', ''])
  expect(others).toEqual([])
})

test('the heartbeat of the LISTEN connection begins no transaction', async () => {
  const created = await createTestDatabase()
  onTestFinished(created.drop)
  await useBroadcast(created.url)
  const client = new pg.Client({ connectionString: created.url })
  await client.connect()
  onTestFinished(() => client.end())
  const answered = new Set<number>()
  await until('it was answered three times', async () => {
    const { rows } = await client.query(
      `select query, state_change from pg_stat_activity where datname = current_database() and application_name = 'cartwright' and query like 'listen%'`
    )
    expect(rows).toHaveLength(1)
    answered.add(rows[0].state_change.getTime())
    return answered.size === 4
  })
})

test('a broadcast message is delivered after its transaction commits and not before', async () => {
  const { db, one } = await useTwo()
  const gate = Promise.withResolvers<void>()
  const published = Promise.withResolvers<void>()
  const slow = db.transaction(async tx => {
    await one.broadcast.publish(tx, 'topic', 'slow')
    published.resolve()
    await gate.promise
  })
  await published.promise
  // The second message arrives first, which shows that the first one waits for its commit.
  await db.transaction(tx => one.broadcast.publish(tx, 'topic', 'quick'))
  await until('the second message is received', () => one.heard.messages.includes('quick'))
  expect(one.heard.messages).toEqual(['quick'])
  gate.resolve()
  await slow
  await until('the first message is received', () => one.heard.messages.length === 2)
})

test('a broadcast message of a rolled back transaction is never delivered', async () => {
  const { db, one } = await useTwo()
  const undone = db.transaction(async tx => {
    await one.broadcast.publish(tx, 'topic', 'undone')
    throw new Error('no')
  })
  await expect(undone).rejects.toThrow('no')
  await db.transaction(tx => one.broadcast.publish(tx, 'topic', 'done'))
  await until('the next message is received', () => one.heard.messages.length > 0)
  expect(one.heard.messages).toEqual(['done'])
})

test('a lost broadcast connection reports one gap in messages, and the reconnection another', async () => {
  const { url, directUrl, proxy } = await useProxiedDatabase()
  const { broadcast, heard } = await useBroadcast(url)
  const db = await useDatabase(directUrl)
  await db.transaction(tx => broadcast.publish(tx, 'topic', 'before'))
  await until('the message is received', () => heard.messages.length === 1)
  await proxy.cut()
  await until('the lost connection is detected', () => !broadcast.isLive())
  expect(heard.gaps).toBe(1)
  await db.transaction(tx => broadcast.publish(tx, 'topic', 'unheard'))
  await proxy.restore()
  await until('the broadcast is live again', broadcast.isLive)
  expect(heard.gaps).toBe(2)
  await db.transaction(tx => broadcast.publish(tx, 'topic', 'heard'))
  await until('the message after the reconnection is received', () => heard.messages.length > 1)
  expect(heard.messages).toEqual(['before', 'heard'])
})

test('a broadcast connection that hangs is detected within two seconds', async () => {
  const { url, proxy } = await useProxiedDatabase()
  const { broadcast, heard } = await useBroadcast(url)
  proxy.hang()
  const noticed = await until('the hanging connection is detected', () => !broadcast.isLive())
  expect(noticed).toBeLessThan(2_000)
  expect(heard.gaps).toBe(1)
  await proxy.restore()
  await until('the broadcast is live again', broadcast.isLive)
  expect(heard.gaps).toBe(2)
})

test('a broadcast connection whose backend was terminated is replaced', async () => {
  const created = await createTestDatabase()
  onTestFinished(created.drop)
  const { broadcast, heard } = await useBroadcast(created.url)
  const admin = new pg.Client({ connectionString: created.url })
  await admin.connect()
  onTestFinished(() => admin.end())
  await admin.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and pid <> pg_backend_pid() and query like 'listen%' or query = 'select 1'`
  )
  await until('both gaps are reported', () => heard.gaps === 2)
  expect(broadcast.isLive()).toBe(true)
})

test('a process whose event loop was blocked keeps its broadcast connection', async () => {
  const created = await createTestDatabase()
  onTestFinished(created.drop)
  const { broadcast, heard } = await useBroadcast(created.url)
  for (let i = 0; i < 3; i += 1) {
    const end = performance.now() + 700
    while (performance.now() < end);
    // Time for a heartbeat whose response is not read while the loop above blocks.
    await new Promise(resolve => setTimeout(resolve, 505))
  }
  expect(broadcast.isLive()).toBe(true)
  expect(heard.gaps).toBe(0)
})

test('closing the broadcast succeeds while its connection is idle, hangs or is cut', async () => {
  const { url, proxy } = await useProxiedDatabase()
  const idle = await openBroadcast(pgClientConfig(testDatabaseOptions(url)))
  await idle.close()
  expect(idle.isLive()).toBe(false)

  const hung = await openBroadcast(pgClientConfig(testDatabaseOptions(url)))
  proxy.hang()
  await hung.close()
  await proxy.restore()

  const cut = await openBroadcast(pgClientConfig(testDatabaseOptions(url)))
  await proxy.cut()
  await until('the lost connection is detected', () => !cut.isLive())
  await cut.close()
})

test('a broadcast that cannot reach the database is reported in one sentence', async () => {
  const { url, proxy } = await useProxiedDatabase()
  await proxy.cut()
  const opening = openBroadcast(pgClientConfig(testDatabaseOptions(url)))
  await expect(opening).rejects.toThrow(/^Cannot reach the database: connect ECONNREFUSED/)
})

test('a broadcast message that exceeds the size limit fails its transaction', async () => {
  const db = await useTestDatabase()
  const created = await createTestDatabase()
  onTestFinished(created.drop)
  const { broadcast } = await useBroadcast(created.url)
  await expect(db.transaction(tx => broadcast.publish(tx, 'topic', 'x'.repeat(8_000)))).rejects.toThrow(
    'payload string too long'
  )
})
