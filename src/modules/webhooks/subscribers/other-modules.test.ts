import { expect, test } from 'vitest'
import { openEmitter } from '../../../../test/support/event-log.ts'
import { ENDPOINTS, PATIENCE, useWebhooks } from '../../../../test/support/webhooks.ts'
import { defineEvent, defineModule, newId, wire } from '../../../index.ts'
import type { LoggedEvent } from '../../../platform/event-log/feed.ts'

const about = { description: 'A customer made a wish.', subject: 'the wish' }
const wishMade = defineEvent('wishes.made', { ...about, webhook: 'all' }, { wish_id: wire.Id })
const wishSecret = defineEvent('wishes.secretly_made', about, { wish_id: wire.Id })
/** A module of another repository. */
const wishes = defineModule({
  name: 'wishes',
  description: 'Wishes.',
  basePaths: [],
  requires: {},
  uses: {},
  emits: [wishMade, wishSecret],
  setup: async ({ db, emit }) => ({
    api: {
      wish: (wish_id: string) =>
        db.transaction(async tx => {
          emit(tx, wishMade, { id: wish_id, version: 2 }, { wish_id })
          emit(tx, wishSecret, wish_id, { wish_id })
        })
    }
  })
})

test('events of external modules are sent by webhook only when their declaration says so', async () => {
  const shop = await useWebhooks({}, wishes)
  const { admin, receiver } = shop
  await shop.subscribe({ event_types: ['wishes.made'] })
  await shop.subscribe({ event_types: null, url: `https://127.0.0.1:${receiver.port}/all` })
  for (const name of ['wishes.secretly_made', 'wishes.unheard_of']) {
    const { status, json } = await admin.post(ENDPOINTS, { url: receiver.url, event_types: [name] })
    expect([status, json.code], name).toEqual([400, 'WEBHOOKS_EVENT_TYPE_UNKNOWN'])
  }
  const wish_id = newId()
  await shop.apiOf(wishes)?.wish(wish_id)
  await shop.waitForStatus('delivered', 2)
  expect(receiver.received.map(({ path }) => path).sort()).toEqual(['/all', '/hooks'])
  for (const { body } of receiver.received)
    expect(JSON.parse(body)).toMatchObject({ type: 'wishes.made', data: { wish_id } })
  // An event without webhook writes no delivery.
  expect(
    await shop.sql(`select 1 from webhooks.deliveries where event_type = 'wishes.secretly_made'`)
  ).toEqual([])
})

test('webhooks carry the position of the event in the event log, and the versions of its subject and payload', async () => {
  const shop = await useWebhooks({}, wishes)
  const { receiver, platform } = shop
  await shop.subscribe()
  for (let nth = 0; nth < 3; nth += 1) await shop.apiOf(wishes)?.wish(newId())
  await shop.waitForStatus('delivered', 3)
  const { items } = await platform.eventLog.read({ after: 0, limit: 10, modules: null })
  type Place = Pick<LoggedEvent, 'position' | 'subject' | 'subject_version' | 'payload_version'>
  const placeOf = ({ position, subject, subject_version, payload_version }: Place) => ({
    position,
    subject,
    subject_version,
    payload_version
  })
  const received = receiver.received.map(({ body }) => placeOf(JSON.parse(body)))
  expect(received.toSorted((a, b) => a.position - b.position)).toEqual(items.map(placeOf))
  expect(items).toHaveLength(3)
  expect(items[0]).toMatchObject({ subject_version: 2, payload_version: 1 })
})

test('a webhook waits without a failed attempt until its event has a position behind an open earlier transaction', async () => {
  const shop = await useWebhooks({ CARTWRIGHT__EVENTS__POSITION_WAIT_SECONDS: '60' }, wishes)
  const { receiver, sql } = shop
  await shop.subscribe()
  const emitter = await openEmitter(shop.databaseUrl, 1)
  await shop.apiOf(wishes)?.wish(newId())
  const attempts = () =>
    sql(`select attempts, error from cartwright.jobs where handler = 'webhooks:wishes.made'`)
  // The handler gives up after two seconds, and is tried again.
  await expect
    .poll(
      () => sql(`select from cartwright.jobs where handler = 'webhooks:wishes.made' and lease is null`),
      PATIENCE
    )
    .toHaveLength(1)
  expect(await attempts()).toEqual([{ attempts: 0, error: null }])
  expect(receiver.received).toEqual([])
  await emitter.commit()
  await shop.waitForStatus('delivered', 1)
  expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({ type: 'wishes.made', position: 2 })
})
