import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, testDatabaseOptions } from '../../../test/support/database.ts'
import { LOWEST_ID, newId } from '../../kernel/ids.ts'
import { readChangedRowsPage } from './changed-rows.ts'
import { openDatabase, type Queryable } from './database.ts'
import { statement } from './statement.ts'

const listChangedNotes = statement({
  name: 'test.list_changed_notes',
  takes: { at: 'float8', after: 'uuid', limit: 'int8' },
  gives: { id: 'uuid', version: 'int4', changed_at: 'int8' },
  text: `
    select id, version, (extract(epoch from updated_at) * 1000000)::int8 as changed_at from public.notes
    where (updated_at, id) > (timestamptz 'epoch' + $at * interval '1 microsecond', $after)
    order by updated_at, id limit $limit`
})
const BEGINNING = '1970-01-01T00:00:00Z'
const DEADLINE = { timeout: 60_000 }

async function useNotes() {
  const { url, drop } = await createTestDatabase()
  onTestFinished(() => drop())
  const db = openDatabase(testDatabaseOptions(url))
  onTestFinished(() => db.close())
  const connect = async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    return client
  }
  const client = await connect()
  await client.query(`
    create table public.notes (id uuid primary key, version int not null, updated_at timestamptz not null default now())`)
  const insert = async () => {
    const id = newId()
    await client.query('insert into public.notes (id, version) values ($1, 1)', [id])
    return id
  }
  const touch = (by: pg.Client, id: string) =>
    by.query('update public.notes set version = version + 1, updated_at = now() where id = $1', [id])
  const page = (updated_since: string, query: { limit?: number; cursor?: string } = {}) =>
    readChangedRowsPage(
      db,
      { updated_since, ...query },
      {
        name: 'notes',
        start: { after: LOWEST_ID },
        rows: place => db.rows(listChangedNotes, place),
        placeOf: ({ changed_at: at, id: after }) => ({ after, at }),
        total: async () => undefined
      }
    )
  /** Reads all pages. */
  async function poll(since: string, limit = 2) {
    const items: { id: string; version: number }[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const next = await page(since, { limit, ...(cursor && { cursor }) })
      items.push(...next.items)
      cursor = next.next_cursor
      if (cursor === null) return { items, since: next.next_since.toISOString() }
    }
    throw new Error('there is no last page')
  }
  /** Waits until the transaction of a client is older than the margin of `next_since`. */
  const waitUntilOld = (of: pg.Client) =>
    expect
      .poll(
        async () =>
          (await of.query(`select clock_timestamp() - now() > interval '3 seconds' as is_old`)).rows,
        DEADLINE
      )
      .toEqual([{ is_old: true }])
  return { client, connect, insert, touch, page, poll, waitUntilOld }
}

test('polled changes come in the order of their time, and each page continues after the last', async () => {
  const { client, insert, touch, poll } = await useNotes()
  const ids = [await insert(), await insert(), await insert(), await insert(), await insert()]
  await touch(client, String(ids[1]))
  const { items } = await poll(BEGINNING)
  expect(items.map(({ id }) => id)).toEqual([ids[0], ids[2], ids[3], ids[4], ids[1]])
})

test('rows that changed in one transaction are each on one page of polled changes', async () => {
  const { client, insert, poll } = await useNotes()
  const ids = [await insert(), await insert(), await insert(), await insert(), await insert()]
  await client.query('update public.notes set updated_at = now()')
  const { items } = await poll(BEGINNING, 1)
  expect(items.map(({ id }) => id)).toEqual(ids.toSorted())
})

test('an open transaction without a snapshot holds next_since back, so a poll does not miss its change', async () => {
  const { client, connect, insert, touch, poll, waitUntilOld } = await useNotes()
  const [old, young] = [await insert(), await insert()]
  const holder = await connect()
  await holder.query('begin')
  const { rows: self } = await holder.query('select pg_backend_pid() as pid')
  await waitUntilOld(holder)
  const { rows: open } = await client.query(
    'select backend_xid, backend_xmin, xact_start from pg_stat_activity where pid = $1',
    [self[0].pid]
  )
  expect(open).toEqual([{ backend_xid: null, backend_xmin: null, xact_start: expect.any(Date) }])
  const startedAt = open[0].xact_start.getTime()
  await touch(client, young)
  const before = await poll(BEGINNING)
  expect(Date.parse(before.since)).toBeLessThan(startedAt)
  await touch(holder, old)
  await touch(client, young)
  const during = await poll(before.since)
  expect(during.items.map(({ id, version }) => [id, version])).toEqual([
    [old, 1],
    [young, 3]
  ])
  await holder.query('commit')
  const after = await poll(during.since)
  expect(after.items).toMatchObject([
    { id: old, version: 2 },
    { id: young, version: 3 }
  ])
  expect(Date.parse((await poll(after.since)).since)).toBeGreaterThan(startedAt)
})

test('a change that commits between two pages of a poll, at an earlier position, is in the next poll', async () => {
  const { client, connect, insert, touch, page, poll, waitUntilOld } = await useNotes()
  const [late, ...others] = [await insert(), await insert(), await insert()]
  const holder = await connect()
  await holder.query('begin')
  await waitUntilOld(holder)
  for (const id of others) await touch(client, id)
  await touch(holder, late)
  const since = new Date(Date.now() - 10).toISOString()
  for (const id of others) await touch(client, id)
  const first = await page(since, { limit: 1 })
  await holder.query('commit')
  const last = await page(since, { limit: 1, cursor: String(first.next_cursor) })
  expect([...first.items, ...last.items].map(({ id }) => id)).toEqual(others)
  expect([last.next_cursor, last.next_since]).toEqual([null, first.next_since])
  const { items } = await poll(last.next_since.toISOString())
  expect(items).toContainEqual(expect.objectContaining({ id: late, version: 2 }))
})

test.each([
  ['a prepared transaction', { at: 5_000_000 }, true],
  ['a server that reports no starts', { at: null }, false]
])('%s prevents next_since of polled changes from moving forward', async (_, oldest, found) => {
  const first = async ({ name }: { name: string }) =>
    name === 'changes.find_oldest_start' ? oldest : { found }
  const { next_since } = await readChangedRowsPage(
    { first } as unknown as Queryable,
    { updated_since: '1970-01-01T00:00:01Z' },
    {
      name: 'none',
      start: { after: LOWEST_ID },
      rows: async () => [],
      placeOf: () => ({ after: '', at: 0 }),
      total: async () => undefined
    }
  )
  expect(next_since).toEqual(new Date(1_000))
})

test('a poll of changes reads the start of the oldest transaction before the rows', async () => {
  const order: string[] = []
  const first = async ({ name }: { name: string }) => {
    order.push(name)
    return name === 'changes.exists_prepared' ? { found: false } : { at: 2_000_000 }
  }
  const rows = async () => {
    order.push('rows')
    return []
  }
  await readChangedRowsPage(
    { first } as unknown as Queryable,
    { updated_since: '1970-01-01T00:00:01Z' },
    {
      name: 'none',
      start: { after: LOWEST_ID },
      rows,
      placeOf: () => ({ after: '', at: 0 }),
      total: async () => undefined
    }
  )
  expect(order).toEqual(['changes.find_oldest_start', 'changes.exists_prepared', 'rows'])
})

test('a filter combined with updated_since is rejected', async () => {
  const query = { updated_since: '1970-01-01T00:00:01Z', status: 'paid' }
  await expect(
    readChangedRowsPage({} as Queryable, query, {
      name: 'none',
      start: {},
      rows: async () => [],
      placeOf: () => ({ at: 0 }),
      total: async () => undefined
    })
  ).rejects.toMatchObject({ code: 'UPDATED_SINCE_FILTERED', kind: 'invalid' })
})
