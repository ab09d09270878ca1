import pg from 'pg'
import pino from 'pino'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { createTestDatabase, testDatabaseOptions } from '../../../test/support/database.ts'
import { keptForDays, keptForYears } from '../../kernel/retention.ts'
import { openDatabase } from '../postgres/database.ts'
import { createPartitionMaintenance, type PartitionedTable } from './partitions.ts'

const NEVER: PartitionedTable['keptSince'] = () => null
const WEEKS: PartitionedTable = { table: 'public.weeks', period: 'week', keptSince: NEVER }
const YEARS: PartitionedTable = { table: 'public.years', period: 'year', keptSince: NEVER }
/** Partitioned by an id, the others by a time. */
const MONTHS: PartitionedTable = { table: 'public.months', period: 'month', keptSince: NEVER }

let url: string
let client: pg.Client
beforeEach(async () => {
  const created = await createTestDatabase()
  url = created.url
  client = new pg.Client({ connectionString: url })
  await client.connect()
  onTestFinished(async () => {
    await client.end()
    await created.drop()
  })
  await client.query(`
    set search_path = public;
    create table months (id uuid primary key, note text) partition by range (id);
    create table months_default partition of months default;
    create table weeks (at timestamptz not null) partition by range (at);
    create table weeks_default partition of weeks default;
    create table years (nth int generated always as identity, at timestamptz not null) partition by range (at);
    create index on years (nth);
    create table years_default partition of years default`)
})

/** The maintenance of one process. */
function useProcess(tables: readonly PartitionedTable[]) {
  const db = openDatabase(testDatabaseOptions(url))
  onTestFinished(() => db.close())
  const partitions = createPartitionMaintenance({
    db,
    log: pino({ level: 'silent' }),
    timers: { every: () => {} }
  })
  for (const each of tables) partitions.keep(each)
  const find = async () => partitions.diagnoses[0]?.find()
  return { find, maintain: (at: string) => partitions.maintain(new Date(at)) }
}
async function useOtherClient(): Promise<pg.Client> {
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  onTestFinished(() => other.end())
  return other
}
const column = async (text: string) => (await client.query({ text, rowMode: 'array' })).rows.flat()
const partitionsOf = ({ table }: PartitionedTable) =>
  column(`
    select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
    where inhparent = '${table}'::regclass and relname !~ '_default$' order by relname`)
/** The partition of each row, in the order of the rows. */
const placesOf = ({ table }: PartitionedTable, by: string) =>
  column(`select relname from ${table} join pg_class on pg_class.oid = ${table}.tableoid order by ${by}`)
/** An id that was drawn at this time. */
const idAt = (at: string) =>
  Date.parse(at)
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})(.{4})$/, '$1-$2-7000-8000-000000000000')
const insertIds = (...ids: readonly string[]) =>
  client.query('insert into months select unnest($1::uuid[])', [ids])

test.each([
  {
    at: '2026-10-31T23:30:00Z',
    months: ['2026m10', '2026m11', '2026m12', '2027m01'],
    weeks: ['2026w44', '2026w45', '2026w46', '2026w47', '2026w48'],
    years: ['2026', '2027']
  },
  {
    // The hour that daylight saving time skips.
    at: '2028-03-26T01:30:00Z',
    months: ['2028m03', '2028m04', '2028m05', '2028m06'],
    weeks: ['2028w12', '2028w13', '2028w14', '2028w15', '2028w16'],
    years: ['2028', '2029']
  },
  {
    // Still the last week of 2026, and already the next day in Berlin.
    at: '2027-01-03T23:30:00Z',
    months: ['2027m01', '2027m02', '2027m03', '2027m04'],
    weeks: ['2026w53', '2027w01', '2027w02', '2027w03', '2027w04'],
    years: ['2027', '2028']
  }
])('partitions exist ahead of $at', async ({ at, ...names }) => {
  const { maintain } = useProcess([MONTHS, WEEKS, YEARS])
  expect(await maintain(at)).toBe(11)
  expect(await maintain(at)).toBe(0)
  expect(await partitionsOf(MONTHS)).toEqual(names.months.map(name => `months_${name}`))
  expect(await partitionsOf(WEEKS)).toEqual(names.weeks.map(name => `weeks_${name}`))
  expect(await partitionsOf(YEARS)).toEqual(names.years.map(name => `years_${name}`))
})

test('the last and the first millisecond of periods are in their partitions, in UTC', async () => {
  await client.query(`set timezone = 'Europe/Berlin'`)
  for (const { table, period } of [MONTHS, YEARS])
    await client.query('select cartwright.create_partitions($1, $2, $3, 1)', [
      table,
      period,
      '2026-12-31T23:30:00Z'
    ])
  await useProcess([MONTHS, YEARS]).maintain('2026-12-31T23:30:00Z')
  const times = ['2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00Z', '2028-01-01T00:00:00Z']
  await insertIds(...times.map(idAt))
  await client.query('insert into years (at) select unnest($1::timestamptz[])', [times])
  expect(await placesOf(MONTHS, 'id')).toEqual(['months_2026m12', 'months_2027m01', 'months_default'])
  expect(await placesOf(YEARS, 'at')).toEqual(['years_2026', 'years_2027', 'years_default'])
})

test('a month is dropped when all of it is expired, and not a millisecond before', async () => {
  let keptSince = '2026-10-31T23:59:59.999Z'
  const { maintain } = useProcess([{ ...MONTHS, keptSince: () => new Date(keptSince) }])
  await maintain('2026-09-01T00:00:00Z')
  await insertIds(...['2026-09-30T00:00:00Z', '2026-10-31T23:59:59.999Z', '2026-11-01T00:00:00Z'].map(idAt))
  await maintain('2026-11-30T00:00:00Z')
  expect(await placesOf(MONTHS, 'id')).toEqual(['months_2026m10', 'months_2026m11'])
  keptSince = '2026-11-01T00:00:00Z'
  await maintain('2026-11-30T00:00:00Z')
  expect(await placesOf(MONTHS, 'id')).toEqual(['months_2026m11'])
  expect(
    await column(`select relname from pg_class where relname in ('months_2026m09', 'months_2026m10')`)
  ).toEqual([])
})

test('rows that are kept for ten years stay for ten full years after their year', async () => {
  const { maintain } = useProcess([{ ...YEARS, keptSince: keptForYears(10) }])
  await maintain('2016-02-29T00:00:00Z')
  await client.query(`insert into years (at) values ('2016-01-01T00:00:00Z'), ('2017-01-01T00:00:00Z')`)
  await maintain('2026-12-31T23:59:59.999Z')
  expect(await placesOf(YEARS, 'at')).toEqual(['years_2016', 'years_2017'])
  await maintain('2027-01-01T00:00:00Z')
  expect(await placesOf(YEARS, 'at')).toEqual(['years_2017'])
})

test('rows that came while no partition existed are moved, or dropped when they are expired', async () => {
  const keptSince = () => new Date('2026-06-01T00:00:00Z')
  const { maintain, find } = useProcess([
    { ...MONTHS, keptSince },
    { ...YEARS, keptSince }
  ])
  const times = ['2025-05-31T00:00:00Z', '2026-07-31T23:59:59.999Z', '2026-11-28T00:00:00Z']
  await insertIds(...times.map(idAt))
  await client.query('insert into years (at) select unnest($1::timestamptz[])', [times])
  expect(await find()).toMatchObject({
    state: 'warning',
    detail:
      'public.months: 3 rows are in no partition of their time; public.years: 3 rows are in no partition of their time'
  })
  await maintain('2026-11-28T12:00:00Z')
  expect(await placesOf(MONTHS, 'id')).toEqual(['months_2026m07', 'months_2026m11'])
  expect(await placesOf(YEARS, 'at')).toEqual(['years_2026', 'years_2026'])
  expect(await find()).toMatchObject({ state: 'ok' })
  // An identity column continues.
  await client.query(`insert into years (at) values ('2026-11-29')`)
  expect(await column('select nth from years order by at')).toEqual([2, 3, 4])
})

test('a clock that jumps drops nothing that is kept, and rows of a far future wait for their time', async () => {
  const { maintain } = useProcess([{ ...MONTHS, keptSince: keptForDays(90) }])
  await maintain('2026-11-28T00:00:00Z')
  const random = ['0193f000-0000-4000-8000-000000000000', 'f193f000-0000-4000-8000-000000000000']
  await insertIds(idAt('2026-11-28T00:00:00Z'), idAt('2031-01-01T00:00:00Z'), ...random)
  await maintain('2016-01-01T00:00:00Z')
  await maintain('2026-11-28T00:00:00Z')
  expect(await placesOf(MONTHS, 'id')).toEqual([
    'months_default',
    'months_2026m11',
    'months_default',
    'months_default'
  ])
  await maintain('2031-01-31T00:00:00Z')
  expect(await placesOf(MONTHS, 'id')).toEqual(['months_default', 'months_2031m01', 'months_default'])
})

test('processes that create and drop partitions simultaneously do each once', async () => {
  const expiring = [MONTHS, WEEKS].map(each => ({ ...each, keptSince: () => new Date('2026-06-01') }))
  const processes = [1, 2, 3].map(() => useProcess(expiring))
  await processes[0]?.maintain('2026-01-15T00:00:00Z')
  const changed = await Promise.all(processes.map(({ maintain }) => maintain('2026-07-15T00:00:00Z')))
  // 4 months and 5 weeks are dropped, and as many are created.
  expect(changed.reduce((sum, each) => sum + each)).toBe(18)
  expect(await partitionsOf(MONTHS)).toEqual(['07', '08', '09', '10'].map(month => `months_2026m${month}`))
})

test('a process that dies at any step leaves whole partitions, and the next run completes', async () => {
  let keptSince: Date | null = null
  const { maintain } = useProcess([{ ...MONTHS, keptSince: () => keptSince }])
  await maintain('2026-05-01T00:00:00Z')
  await insertIds(idAt('2026-05-02T00:00:00Z'), idAt('2026-10-02T00:00:00Z'))
  await client.query(`
    create sequence steps;
    create table deadly (step bigint);
    create function die() returns event_trigger language plpgsql as $$ begin
      if nextval('steps') = (select step from deadly) then perform pg_terminate_backend(pg_backend_pid()); end if;
    end $$;
    create event trigger dies on ddl_command_end execute function die()`)
  /** Kills the process after one step, after two, and so on, until a run completes. Returns the number of runs. */
  async function runUntil(places: readonly string[]): Promise<number> {
    for (let run = 1; ; run += 1) {
      await client.query('truncate deadly')
      await client.query(`insert into deadly select setval('steps', 1, false) - 1 + ${run}`)
      await maintain('2026-07-15T00:00:00Z')
      const found = await placesOf(MONTHS, 'id')
      if (found.join() === places.join()) return run
      expect(found).toEqual(before)
    }
  }
  const before = ['months_2026m05', 'months_default']
  expect(await runUntil(['months_2026m05', 'months_2026m10'])).toBe(5)
  before[1] = 'months_2026m10'
  keptSince = new Date('2026-06-01T00:00:00Z')
  expect(await runUntil(['months_2026m10'])).toBe(3)
  expect(await partitionsOf(MONTHS)).toEqual(
    ['06', '07', '08', '09', '10'].map(month => `months_2026m${month}`)
  )
})

test('while a long statement reads the table, dropping gives up and inserts do not wait for the statement', async () => {
  const { maintain } = useProcess([{ ...MONTHS, keptSince: () => new Date('2026-06-01T00:00:00Z') }])
  await maintain('2026-04-01T00:00:00Z')
  const reader = await useOtherClient()
  await reader.query('begin')
  await reader.query('select from months')
  let isOver = false
  const dropping = maintain('2026-07-15T00:00:00Z').finally(() => {
    isOver = true
  })
  let written = 0
  while (!isOver) {
    written += 1
    await insertIds(idAt(new Date(Date.parse('2026-06-15T00:00:00Z') + written).toISOString()))
  }
  await dropping
  expect(written).toBeGreaterThan(5)
  expect((await partitionsOf(MONTHS))[0]).toBe('months_2026m04')
  await reader.query('commit')
  await maintain('2026-07-15T00:00:00Z')
  expect((await partitionsOf(MONTHS))[0]).toBe('months_2026m06')
})

test('dropping waits for the vacuum of an expired partition, and inserts do not wait', async () => {
  const { maintain } = useProcess([{ ...MONTHS, keptSince: () => new Date('2026-05-01T00:00:00Z') }])
  await maintain('2026-04-01T00:00:00Z')
  const vacuum = await useOtherClient()
  // The lock of a vacuum.
  await vacuum.query('begin')
  await vacuum.query('lock table only months_2026m04 in share update exclusive mode')
  const dropping = maintain('2026-07-15T00:00:00Z')
  const waiting = (time: string) =>
    column(`
    select true from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()
      and query like '%drop_oldest_partition%' and now() - query_start > '${time}'`)
  await expect.poll(() => waiting('500 ms')).toEqual([true])
  await insertIds(idAt('2026-06-15T00:00:00Z'))
  expect(await waiting('500 ms')).toEqual([true])
  await vacuum.query('commit')
  await dropping
  expect((await partitionsOf(MONTHS))[0]).toBe('months_2026m05')
})
