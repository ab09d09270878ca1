import pg from 'pg'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createProduct, useCatalog } from '../../../../test/support/catalog.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { createCallerConcurrencyLimit } from './caller-limit.ts'

/** Work that runs until the test ends it, and a record of started work. */
function useWork() {
  const begun: string[] = []
  const ends = new Map<string, () => void>()
  const work = (name: string) => () => {
    begun.push(name)
    return new Promise<string>(resolve => ends.set(name, () => resolve(name)))
  }
  return { begun, work, end: (name: string) => ends.get(name)?.() }
}

test("one caller's searches run two at a time and the rest in order, without delaying other callers", async () => {
  const limited = createCallerConcurrencyLimit(2)
  const { begun, work, end } = useWork()
  const all = ['a', 'b', 'c', 'd'].map(name => limited('one', work(name)))
  const other = limited('other', work('x'))
  expect(begun).toEqual(['a', 'b', 'x'])
  end('b')
  await all[1]
  expect(begun).toEqual(['a', 'b', 'x', 'c'])
  for (const name of ['x', 'a', 'c']) end(name)
  await Promise.all([other, all[0], all[2]])
  end('d')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd'])
})

test('a failed search releases its slot', async () => {
  const limited = createCallerConcurrencyLimit(1)
  const fail = () => Promise.reject(new Error('no'))
  const tries = await Promise.allSettled([limited('one', fail), limited('one', fail)])
  expect(tries.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await limited('one', async () => 'yes')).toBe('yes')
})

test("the queue of a caller's searches has a maximum length, and a search waits in it for a second at most", async () => {
  const limited = createCallerConcurrencyLimit(1)
  const { work, end } = useWork()
  const first = limited('one', work('first'))
  const late = limited('one', async () => 'late')
  const waiting = Array.from({ length: 99 }, () => limited('one', async () => 'late'))
  await expect(limited('one', async () => 'one too many')).rejects.toMatchObject({
    code: 'CATALOG_LIST_LIMIT'
  })
  const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 1_001)
  onTestFinished(() => now.mockRestore())
  end('first')
  expect(await first).toBe('first')
  const answers = await Promise.allSettled([late, ...waiting])
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set(['rejected']))
  expect(await limited('one', async () => 'again')).toBe('again')
})

test('twenty slow searches of one caller do not delay the searches of others', async () => {
  const app = await useCatalog({
    CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
    CARTWRIGHT__DATABASE__LOCK_TIMEOUT_MS: '20000',
    CARTWRIGHT__DATABASE__POOL_WAIT_MS: '1000',
    CARTWRIGHT__DATABASE__SLOW_CONNECTIONS: '4'
  })
  await createProduct(app, { name: 'Slow', slug: 'slow', tags: ['slow'] })
  await createProduct(app, { name: 'Quick', tags: ['quick'] })
  // Statements that return the slow product wait until the lock is released. The cost of the function makes
  // PostgreSQL filter by tags first.
  await runSql(
    app.databaseUrl,
    `create function catalog.wait_for_lock() returns boolean language plpgsql cost 1000000 as
       'begin perform pg_advisory_xact_lock_shared(1); return true; end';
     alter table catalog.products rename to stored_products;
     create view catalog.products as select * from catalog.stored_products
     where slug <> 'slow' or catalog.wait_for_lock()`
  )
  const holder = new pg.Client({ connectionString: app.databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('select pg_advisory_lock(1)')
  const search = (q: string, address: string) =>
    app.request('GET', `/api/products?q=${q}&tag=${q}`, { headers: { 'x-forwarded-for': address } })

  const slow = Array.from({ length: 20 }, () => search('slow', '203.0.113.1'))
  const waits = `select from pg_stat_activity where wait_event = 'advisory' and datname = current_database()`
  await eventually(async () => expect(await runSql(app.databaseUrl, waits)).toHaveLength(2))
  const quick = await Promise.all(['203.0.113.2', '203.0.113.3'].map(address => search('quick', address)))
  expect(quick.map(({ status, json }) => [status, json.items?.length])).toEqual([
    [200, 1],
    [200, 1]
  ])
  // The searches of others returned while the slow ones still wait.
  expect(await runSql(app.databaseUrl, waits)).toHaveLength(2)
  await holder.query('select pg_advisory_unlock(1)')
  for (const { status } of await Promise.all(slow)) expect([200, 429]).toContain(status)
  // The check of event versions after each test reads the table.
  await runSql(
    app.databaseUrl,
    'drop view catalog.products; alter table catalog.stored_products rename to products'
  )
})
