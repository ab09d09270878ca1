import { expect, test } from 'vitest'
import { chimeModule, waitForNths } from '../../../test/support/event-log.ts'
import { useShop } from '../../../test/support/use-shop.ts'

const DAY_MS = 86_400_000
const chime = chimeModule()

async function useLog() {
  const shop = await useShop({ modules: [chime] })
  const ring = shop.apiOf(chime)?.ring
  if (ring === undefined) throw new Error('there is no chime')
  const find = async () => shop.platform.eventLog.diagnoses[0]?.find()
  const isPositioned = (count: number) =>
    waitForNths(
      async () =>
        (await shop.platform.eventLog.read({ after: 0, limit: 100, modules: null })).items.map(
          ({ position }) => position
        ),
      count
    )
  return { ...shop, ring, find, isPositioned }
}

test('an event log whose partitions were all dropped continues with the next position', async () => {
  const { ring, sql, isPositioned, platform } = await useLog()
  await ring([1, 2])
  await isPositioned(2)
  await platform.partitions.maintain(new Date(Date.now() + 98 * DAY_MS))
  expect(await sql('select from cartwright.events')).toEqual([])
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
