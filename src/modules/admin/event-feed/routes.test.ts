import { expect, test } from 'vitest'
import { chimeModule, waitForNths } from '../../../../test/support/event-log.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { defineEvent } from '../../../kernel/events.ts'
import { newId } from '../../../kernel/ids.ts'
import { Type } from '../../../kernel/schema.ts'
import { defineModule } from '../../../module.ts'
import { admin, customer, fakeAuth } from '../../../testing.ts'
import { adminModule } from '../index.ts'

const FEED = '/api/admin/events/feed'
const chime = chimeModule()
const gongRang = defineEvent(
  'gong.rang',
  { description: 'A gong rang.', subject: 'the gong', webhook: 'latest' },
  { nth: Type.Integer() }
)
const gong = defineModule({
  name: 'gong',
  description: 'Rings, too.',
  basePaths: [],
  requires: {},
  uses: {},
  emits: [gongRang],
  setup: async ({ db, emit }) => ({
    api: {
      ring: (nth: number) =>
        db.transaction(async tx => emit(tx, gongRang, { id: newId(), version: null }, { nth }))
    }
  })
})

shareShops()

const withScopes = (scopes: readonly string[] | null) => () => {
  const auth = fakeAuth()
  const { authenticate } = auth
  auth.authenticate = async token => ({ ...(await authenticate(token)), scopes })
  return { auth }
}
const withFullAccess = withScopes(null)

/** A shop whose administrators have full access, unless `instead` limits it. */
async function useFeed(instead = withFullAccess) {
  const shop = await useShop({ modules: [adminModule, chime, gong], instead })
  const { ring } = shop.apiOf(chime) ?? {}
  const { ring: ringGong } = shop.apiOf(gong) ?? {}
  if (ring === undefined || ringGong === undefined) throw new Error('a module is missing')
  const api = shop.as(admin())
  const read = async (query = '') => (await api.get(`${FEED}${query}`)).json
  /** Waits until the log has this many events. */
  const waitFor = (latest: number) =>
    waitForNths(async () => Array.from({ length: (await read()).latest_position }, () => 0), latest)
  return { ...shop, ring, ringGong, api, read, waitFor }
}
type Item = { payload: { nth: number }; position: number }
const nthsOf = ({ items }: { items: Item[] }) => items.map(({ payload }) => payload.nth)

test('the event feed returns events page by page, and an empty page with the same cursor at the end', async () => {
  needsOwnShop()
  const { ring, ringGong, read, waitFor } = await useFeed()
  expect(await read()).toEqual({ items: [], next_after: 0, latest_position: 0 })
  const subject = await ring([1, 2])
  await ringGong(3)
  await waitFor(3)
  const first = await read('?limit=2')
  expect(first.items[0]).toEqual({
    position: 1,
    id: expect.any(String),
    name: 'chime.rang',
    subject,
    subject_version: 1,
    payload_version: 3,
    occurred_at: expect.any(String),
    payload: { nth: 1 }
  })
  expect([nthsOf(first), first.next_after, first.latest_position]).toEqual([[1, 2], 2, 3])
  const second = await read('?after=2&limit=2')
  const { subject_version, payload_version } = second.items[0]
  expect([subject_version, payload_version]).toEqual([null, 1])
  expect([nthsOf(second), second.next_after]).toEqual([[3], 3])
  expect(await read('?after=3')).toEqual({ items: [], next_after: 3, latest_position: 3 })
})

test('administrators with scopes receive only the events of those modules from the event feed', async () => {
  needsOwnShop()
  const { ring, ringGong, read, waitFor } = await useFeed(withScopes(['gong']))
  await ring([1])
  await ringGong(2)
  await ring([3, 4])
  await ringGong(5)
  await ring([6])
  await waitFor(6)
  const all = await read()
  expect([nthsOf(all), all.items[0].position, all.next_after]).toEqual([[2, 5], 2, 6])
  const page = await read('?limit=1')
  expect([nthsOf(page), page.next_after]).toEqual([[2], 2])
  expect(await read('?after=5')).toEqual({ items: [], next_after: 6, latest_position: 6 })
})

test('customers cannot read the event feed', async () => {
  const { as } = await useFeed()
  expect((await as(customer()).get(FEED)).json.code).toBe('ADMIN_REQUIRED')
  expect((await as(null).get(FEED)).status).toBe(401)
})

test.each(['-1', '1.5', 'x', '9007199254740993'])('the event feed rejects the cursor %s', async after => {
  const { api } = await useFeed()
  expect((await api.get(`${FEED}?after=${after}`)).status).toBe(400)
})

test('a feed cursor beyond the last event is rejected, and the response names the latest position', async () => {
  needsOwnShop()
  const { ring, api, waitFor } = await useFeed()
  await ring([1])
  await waitFor(1)
  expect(await api.get(`${FEED}?after=2`)).toMatchObject({
    status: 400,
    json: { code: 'EVENTS_CURSOR_AHEAD', oldest_position: 1, latest_position: 1 }
  })
})

test('a feed cursor whose events were deleted gets 410, and without a cursor the feed begins at the oldest event', async () => {
  needsOwnShop()
  const { ring, api, read, waitFor, sql, platform } = await useFeed()
  await ring([1, 2])
  await waitFor(2)
  await sql(`update cartwright.events set occurred_at = occurred_at - interval '14 weeks'`)
  await sql(`update cartwright.event_batches set oldest_at = oldest_at - interval '14 weeks'`)
  await ring([3])
  await waitFor(3)
  await platform.partitions.maintain(new Date())
  expect(await sql('select payload from cartwright.events')).toEqual([{ payload: { nth: 3 } }])
  for (const after of [0, 1])
    expect(await api.get(`${FEED}?after=${after}`)).toMatchObject({
      status: 410,
      json: { code: 'EVENTS_CURSOR_EXPIRED', oldest_position: 3, latest_position: 3 }
    })
  for (const query of ['', '?after=2']) expect(nthsOf(await read(query))).toEqual([3])
})
