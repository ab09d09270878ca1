import { expect, test } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { bellModule, earModule, note, type Ring, useBellDatabase } from '../../../test/support/bells.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'
import { openTestShop, type TestShop } from '../../testing.ts'
import type { Transaction } from '../postgres/database.ts'
import type { EventFollowUp } from './handlers.ts'

shareShops()

const bell = bellModule()

/** A module that notes an event, and follows up single ones. */
const followingEar = (followUp: (ring: Ring) => EventFollowUp) =>
  earModule('ear', async (tx: Transaction, events: readonly Ring[]) => {
    await note(tx, 'ear', events)
    const [only] = events
    return only === undefined || events.length > 1 ? undefined : followUp(only)
  })
const ring = (shop: Pick<TestShop, 'db' | 'apiOf'>, id: string, nth: number) =>
  shop.db.transaction(async tx => shop.apiOf(bell)?.ring(tx, id, nth))
const openEvents = async ({ sql }: Pick<TestShop, 'sql'>) => {
  const open = `select (payload->>'nth')::int as nth from cartwright.jobs where id > 0 order by id`
  return (await sql(open)).map(({ nth }) => nth)
}
const noted = async ({ sql }: Pick<TestShop, 'sql'>) =>
  (await sql('select nth from public.effects order by id')).map(({ nth }) => nth)

test('an event stays until its follow-up is done, and only later events of its subject wait', async () => {
  const followed: number[] = []
  const first = Promise.withResolvers<void>()
  const ear = followingEar(({ payload: { nth } }) => async () => {
    if (nth === 1) await first.promise
    followed.push(nth)
  })
  const shop = await useShop({
    modules: [bell, ear],
    databaseUrl: await useBellDatabase(),
    runsSchedulesAtStart: true
  })
  const [id, other] = [newId(), newId()]
  await ring(shop, id, 1)
  await until('the first event is handled', async () => (await noted(shop)).length === 1)
  await ring(shop, id, 2)
  await ring(shop, other, 3)
  await until('the other event is done', async () => followed.includes(3))
  await until('its row is deleted', async () => (await openEvents(shop)).length === 2)
  expect(await openEvents(shop)).toEqual([1, 2])
  expect(await noted(shop)).toEqual([1, 3])
  first.resolve()
  await until('all events are done', async () => (await openEvents(shop)).length === 0)
  expect(followed).toEqual([3, 1, 2])
})

test('an event whose follow-up fails is handled again from the start', async () => {
  let attempts = 0
  const ear = followingEar(() => async () => {
    attempts += 1
    if (attempts === 1) throw new Error('no answer')
  })
  const shop = await useShop({
    modules: [bell, ear],
    databaseUrl: await useBellDatabase(),
    runsSchedulesAtStart: true
  })
  await ring(shop, newId(), 1)
  const failed = `select attempts, error from cartwright.jobs where error is not null`
  await until('the failure is recorded', async () => (await shop.sql(failed)).length === 1)
  expect(await shop.sql(failed)).toEqual([{ attempts: 1, error: 'Error: no answer' }])
  await shop.sql(`update cartwright.jobs set due_at = now() where error is not null`)
  await until('the event is done', async () => (await openEvents(shop)).length === 0)
  expect([attempts, await noted(shop)]).toEqual([2, [1, 1]])
})

test('a process that stops aborts its follow-ups, and another process handles their events', async () => {
  const databaseUrl = await useBellDatabase()
  let isAborted = false
  const hanging = followingEar(() => async signal => {
    await new Promise(resolve => signal.addEventListener('abort', resolve))
    isAborted = true
    signal.throwIfAborted()
  })
  const shop = await openTestShop({ modules: [bell, hanging], databaseUrl, runsSchedulesAtStart: true })
  await ring(shop, newId(), 1)
  await until('the event is handled', async () => (await noted(shop)).length === 1)
  await shop.close()
  expect(isAborted).toBe(true)
  const other = await useShop({
    modules: [bell, followingEar(() => async () => {})],
    databaseUrl,
    runsSchedulesAtStart: true
  })
  await until('the event is done', async () => (await openEvents(other)).length === 0)
  expect(await noted(other)).toEqual([1, 1])
})
