import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import {
  enqueueStockRequests,
  lockPendingStockRequests
} from '../../src/modules/inventory/writer/requests.ts'
import { tryLockStockRequests } from '../../src/modules/inventory/writer/requests-repository.ts'
import { useTestDatabase, useTestDatabaseUrl } from '../support/database.ts'
import { shareShops } from '../support/shared-shops.ts'
import { runSql } from '../support/sql.ts'
import { openStock } from '../support/stock.ts'
import { reservedOf } from '../support/stock-ledger.ts'
import { useStock } from '../support/use-stock.ts'
import { useProxiedDatabase } from './postgres-proxy.ts'
import { watchCommits } from './postgres-wire.ts'
import { until } from './until.ts'

shareShops()

/** A writer behind a proxy that can lose commits or their responses. */
async function useProxiedStock() {
  const commits = watchCommits()
  const proxied = await useProxiedDatabase(commits.watch)
  const shared = await useStock({ onHand: 100 })
  const stock = openStock(proxied.url)
  onTestFinished(async () => {
    commits.restore()
    await proxied.proxy.restore()
    await stock.close()
  })
  await stock.buy(newId(), [{ variantId: shared.itemId, quantity: 1 }])
  return { ...shared, stock, commits, proxy: proxied.proxy }
}

test.each([
  ['the responses to commits are lost', 'to_program', 'reset'],
  ['commits do not reach the server', 'to_server', 'reset'],
  ['the responses to commits never arrive', 'to_program', 'lose'],
  ['commits never arrive', 'to_server', 'lose']
] as const)(
  'while %s, no stock is reserved twice or without an owner',
  async (_, direction, fate) => {
    const { stock, itemId, client, commits, expectConsistentStock } = await useProxiedStock()
    const lines = [{ variantId: itemId, quantity: 1 }]
    commits.breakAt(direction, fate, fate === 'lose' ? 5 : 2)
    const owners = Array.from({ length: 60 }, newId)
    const ends: PromiseSettledResult<unknown>[] = []
    for (let at = 0; at < owners.length; at += 10) {
      const some = owners.slice(at, at + 10)
      ends.push(...(await Promise.allSettled(some.map(owner => stock.buy(owner, lines)))))
    }
    commits.restore()
    expect(stock.batches('unknown')).toBeGreaterThan(0)
    expect(ends.filter(({ status }) => status === 'rejected')).toEqual([])
    // The set-up reserved one more unit.
    expect(await reservedOf(client, itemId)).toEqual({ held: 61 })
    await expectConsistentStock()
  },
  60_000
)

test('a purchase whose COMMIT was lost is retried and reserves its units once', async () => {
  const { stock, itemId, client, commits, expectConsistentStock } = await useProxiedStock()
  commits.breakAt('to_server', 'reset', 1)
  const buying = stock.buy(newId(), [{ variantId: itemId, quantity: 99 }])
  await until('a commit is lost', () => stock.batches('unknown') > 0)
  commits.restore()
  await buying
  const late = stock.buy(newId(), [{ variantId: itemId, quantity: 1 }])
  await expect(late).rejects.toMatchObject({ code: 'INVENTORY_SHORT' })
  expect(await reservedOf(client, itemId)).toEqual({ held: 100 })
  await expectConsistentStock()
})

test('stock requests whose commit response was lost are executed once', async () => {
  const { stock, itemId, locationId, commits, sql, expectConsistentStock } = await useProxiedStock()
  const adjust = () => ({
    kind: 'adjust' as const,
    id: newId(),
    actor: null,
    reason: 'delivery',
    lines: [{ itemId, locationId, delta: 1 }]
  })
  commits.breakAt('to_program', 'reset', 3)
  let posted = 0
  for (let round = 0; round < 20; round += 1) {
    // The caller's own commit may be lost, too, so the caller checks whether the request exists.
    const request = adjust()
    await stock.request(request).catch(() => {})
    const [row] = await sql('select count(*)::int as rows from inventory.requests where id = $1', [
      request.id
    ])
    posted += Number(row?.rows)
  }
  commits.restore()
  const isDone = async () =>
    (await sql('select id from inventory.requests where done_at is null')).length === 0
  await until('all stock requests are executed', isDone)
  const [level] = await sql('select on_hand from inventory.levels')
  expect(level?.on_hand).toBe(100 + posted)
  expect(posted).toBeGreaterThan(5)
  await expectConsistentStock()
})

test('while a transaction locks a stock level, only the buyers of its item wait', async () => {
  const { stock, itemIds, sql, url, expectConsistentStock } = await useStock({ items: 3, onHand: 1_000 })
  const [held, ...free] = itemIds as [string, string, string]
  const otherClient = new pg.Client({ connectionString: url })
  await otherClient.connect()
  await otherClient.query('begin')
  await otherClient.query('select 1 from inventory.levels where item_id = $1 for update', [held])
  const waiting = stock.buy(newId(), [{ variantId: held, quantity: 1 }]).then(() => 'done')
  // More than fit into a batch.
  const crowd = Array.from({ length: 300 }, () => stock.buy(newId(), [{ variantId: held, quantity: 1 }]))
  const both = stock
    .buy(
      newId(),
      [held, ...free].map(variantId => ({ variantId, quantity: 1 }))
    )
    .then(() => 'done')
  await until('the writer has met the lock', () => stock.batches('locked') > 0)
  for (let basket = 0; basket < 100; basket += 1)
    await stock.buy(newId(), [{ variantId: free[basket % 2] as string, quantity: 1 }])
  expect(await Promise.race([waiting, both, 'still waiting'])).toBe('still waiting')
  await otherClient.query('commit')
  await otherClient.end()
  expect(await Promise.all([waiting, both])).toEqual(['done', 'done'])
  await Promise.all(crowd)
  const levels = await sql('select reserved from inventory.levels order by reserved')
  expect(levels).toEqual([{ reserved: 51 }, { reserved: 51 }, { reserved: 302 }])
  await expectConsistentStock()
})

test('a stock level that a batch skips while it is locked is later read with its current value', async () => {
  const { stocks, itemId, url, client, expectConsistentStock } = await useStock({ onHand: 60, processes: 4 })
  const otherClient = new pg.Client({ connectionString: url })
  await otherClient.connect()
  let isStopping = false
  // The level is locked for longer than a batch waits, so batches lock the free levels.
  const holding = (async () => {
    while (!isStopping) {
      await otherClient.query('begin')
      await otherClient.query('select 1 from inventory.levels for update')
      await otherClient.query('select pg_sleep(0.3)')
      await otherClient.query('commit')
    }
  })()
  const lines = [{ variantId: itemId, quantity: 1 }]
  const buying = Array.from({ length: 100 }, (_, buyer) =>
    (stocks[buyer % 4] as (typeof stocks)[0]).buy(newId(), lines).catch(error => error.code)
  )
  const ends = await Promise.all(buying)
  isStopping = true
  await holding
  await otherClient.end()
  // A refused buyer has the code of the error.
  expect(ends.filter(end => typeof end !== 'string').length).toBe(60)
  expect(await reservedOf(client, itemId)).toEqual({ held: 60 })
  await expectConsistentStock()
})

test('without a database every purchase is rejected as unavailable, and purchases continue once it is back', async () => {
  const { stock, itemId, client, proxy, expectConsistentStock } = await useProxiedStock()
  const lines = [{ variantId: itemId, quantity: 1 }]
  await proxy.cut()
  const ends = await Promise.allSettled(Array.from({ length: 50 }, () => stock.buy(newId(), lines)))
  for (const end of ends)
    expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unavailable', retryAfterSeconds: 1 } })
  await proxy.restore()
  await until('a buyer can buy', () => stock.buy(newId(), lines).then(() => true))
  expect(await reservedOf(client, itemId)).toEqual({ held: 2 })
  await expectConsistentStock()
})

/** Posts one request that all processes find simultaneously, because they all wait for its level. */
async function postHeldUp() {
  const { stocks, stock, itemId, locationId, sql, url } = await useStock({ processes: 2, onHand: 10 })
  const otherClient = new pg.Client({ connectionString: url })
  await otherClient.connect()
  onTestFinished(() => otherClient.end())
  await otherClient.query('begin')
  await otherClient.query('select 1 from inventory.levels for update')
  const lines = [{ itemId, locationId, delta: 1 }]
  const id = newId()
  await stock.db.transaction(tx =>
    stock.postAll(tx, [{ kind: 'adjust', id, actor: null, reason: 'delivery', lines }])
  )
  const waitingFor = async (relation: string) => {
    for (const each of stocks) each.writer.wake()
    const [row] = await sql(
      `select count(*)::int as waiting from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock' and query like $1`,
      [`%${relation}%`]
    )
    return Number(row?.waiting)
  }
  const adjusted = async () => {
    await otherClient.query('commit')
    await stock.writer.outcomeOf(id, performance.now() + 10_000)
    const isDone = async () =>
      (await sql('select from inventory.requests where done_at is null')).length === 0
    await until('the stock request is executed', isDone)
    await Promise.all(stocks.map(each => each.writer.stop()))
    const [level] = await sql('select on_hand from inventory.levels')
    return level?.on_hand
  }
  return { waitingFor, adjusted }
}

test('a stock request that two processes find simultaneously is executed once', async () => {
  const { waitingFor, adjusted } = await postHeldUp()
  await until('one process waits for the level', async () => (await waitingFor('inventory.levels')) === 1)
  expect(await adjusted()).toBe(11)
})

/** Counts the requests that two processes lock, the second one while the first transaction is open. */
async function takeTwice() {
  const db = await useTestDatabase()
  await runSql(await useTestDatabaseUrl(), 'delete from inventory.requests')
  const lines = [{ itemId: newId(), locationId: newId(), delta: 1 }]
  const request = { kind: 'adjust', id: newId(), actor: null, reason: 'delivery', lines } as const
  await db.transaction(tx => enqueueStockRequests(tx, [request]))
  return db.transaction(async one => {
    const first = await lockPendingStockRequests(one)
    const second = await db.transaction(other => lockPendingStockRequests(other))
    return [first.waiting.length, second.waiting.length]
  })
}

test('stock requests that one process has locked are not locked by another', async () => {
  expect(await takeTwice()).toEqual([1, 0])
})

test('without the lock that a test removes on purpose, two processes take the same stock request', async () => {
  const { text } = tryLockStockRequests
  onTestFinished(() => void Object.assign(tryLockStockRequests, { text }))
  Object.assign(tryLockStockRequests, { text: 'select true as is_mine' })
  expect(await takeTwice()).toEqual([1, 1])
})
