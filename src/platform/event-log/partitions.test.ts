import { expect, test } from 'vitest'
import { chimeModule, waitForNths } from '../../../test/support/event-log.ts'
import { useShop } from '../../../test/support/use-shop.ts'

const chime = chimeModule()

async function useLog() {
  const shop = await useShop({ modules: [chime] })
  const ring = shop.apiOf(chime)?.ring
  if (ring === undefined) throw new Error('there is no chime')
  const find = async () => shop.platform.eventLog.diagnoses[0]?.find()
  const rows = () =>
    shop.sql(
      'select relname as partition, payload from cartwright.events event join pg_class on pg_class.oid = event.tableoid order by id'
    )
  const isPositioned = (count: number) =>
    waitForNths(
      async () =>
        (await shop.platform.eventLog.read({ after: 0, limit: 100, modules: null })).items.map(
          ({ position }) => position
        ),
      count
    )
  return { ...shop, ring, find, rows, isPositioned }
}

test('the weekly partitions of the event log exist ahead of time', async () => {
  const { sql } = await useLog()
  const weeks = await sql(
    `select relname from pg_inherits join pg_class on pg_class.oid = inhrelid
     where inhparent = 'cartwright.events'::regclass and relname <> 'events_default'`
  )
  expect(weeks.length).toBeGreaterThanOrEqual(5)
})

test('an event without a partition of its week is in the default partition, doctor reports it, and it can be moved', async () => {
  const { ring, sql, rows, find, isPositioned } = await useLog()
  await ring([1])
  await isPositioned(1)
  await sql(`update cartwright.events set occurred_at = '2020-01-01T00:00:00Z'`)
  expect((await rows()).map(({ partition }) => partition)).toEqual(['events_default'])
  expect(await find()).toMatchObject({
    state: 'warning',
    detail: expect.stringContaining('1 events are in no week')
  })
  const create = `select cartwright.create_event_partitions('2020-01-01', '2020-01-01') as created`
  expect(await sql(create)).toEqual([{ created: 1 }])
  expect(await sql(create)).toEqual([{ created: 0 }])
  expect(await rows()).toEqual([{ partition: 'events_2020w01', payload: { nth: 1 } }])
  expect(await find()).toMatchObject({ state: 'ok', detail: 'positions up to 1, unique and without gaps' })
})

test('an event log whose partitions were all dropped continues with the next position', async () => {
  const { ring, sql, isPositioned, platform } = await useLog()
  await ring([1, 2])
  await isPositioned(2)
  await sql(`select cartwright.drop_event_partitions(now() + interval '1 week')`)
  await sql('select cartwright.create_event_partitions(now(), now())')
  const read = (after?: number) => platform.eventLog.read({ after, limit: 10, modules: null })
  expect(await read()).toEqual({ items: [], next_after: 2, latest_position: 2 })
  await expect(read(1)).rejects.toMatchObject({ code: 'EVENTS_CURSOR_EXPIRED' })
  await ring([3])
  await expect.poll(async () => (await read()).items).toMatchObject([{ position: 3, payload: { nth: 3 } }])
})

test('doctor finds a position of the event log that was given twice, and a batch that leaves a gap', async () => {
  const { ring, sql, find, isPositioned } = await useLog()
  expect(await find()).toMatchObject({ state: 'ok', detail: 'empty' })
  await ring([1])
  await isPositioned(1)
  await sql(
    `insert into cartwright.event_batches select 7, ids, last_id, skipped_ids, oldest_at, newest_at from cartwright.event_batches`
  )
  expect(await find()).toMatchObject({
    state: 'wrong',
    detail: 'positions are not unique: 1 batches begin at a wrong position, 1 events have two positions'
  })
})
