import { expect, test } from 'vitest'
import { waitForNths } from '../../../test/support/event-log.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { defineEvent, defineModule, newId, wire } from '../../index.ts'
import { Type } from '../../kernel/schema.ts'
import { customer, fakeAuth } from '../../testing.ts'

const letterSent = defineEvent(
  'letters.sent',
  { description: 'A letter was sent.', subject: 'the letter', webhook: 'all', personalFields: ['email'] },
  { customer_id: wire.Id, email: Type.String(), pages: Type.Integer() }
)
const parcelSent = defineEvent(
  'letters.parcel_sent',
  {
    description: 'A parcel was sent.',
    subject: 'the parcel',
    webhook: 'all',
    unversioned: 'Parcels never change.'
  },
  { parcel_id: wire.Id, to: Type.Array(Type.Object({ address: Type.String() })) }
)
const letters = defineModule({
  name: 'letters',
  description: 'Letters.',
  basePaths: [],
  requires: {},
  uses: {},
  emits: [letterSent, parcelSent],
  setup: async ({ db, emit }) => ({
    api: {
      send: (customer_id: string, email: string) =>
        db.transaction(async tx =>
          emit(tx, letterSent, { id: newId(), version: 1 }, { customer_id, email, pages: 2 })
        ),
      sendParcel: (parcel_id: string, address: string) =>
        db.transaction(async tx => emit(tx, parcelSent, parcel_id, { parcel_id, to: [{ address }] }))
    }
  })
})

test('erasing a customer sets the declared personal fields of events in the log to null, and keeps the rest', async () => {
  const auth = fakeAuth()
  const shop = await useShop({ modules: [letters], instead: { auth } })
  const [ada, eve] = [customer(), customer()]
  for (const { id } of [ada, eve]) {
    auth.addContact({ id, email: `${id}@example.com` })
    await shop.apiOf(letters)?.send(id, `${id}@example.com`)
  }
  const read = async () => (await shop.platform.eventLog.read({ after: 0, limit: 10, modules: null })).items
  await waitForNths(async () => (await read()).map(({ position }) => position), 2)
  const mine = { name: 'letters.sent', payload: { email: `${ada.id}@example.com` } }
  expect(await auth.exportUser(ada.id)).toMatchObject({ parts: { event_log: [mine] } })

  await shop.db.transaction(tx => auth.eraseUser(tx, ada.id))
  expect((await read()).map(({ payload }) => payload)).toEqual([
    { customer_id: ada.id, email: null, pages: 2 },
    { customer_id: eve.id, email: `${eve.id}@example.com`, pages: 2 }
  ])
  expect(await auth.exportUser(ada.id)).toMatchObject({ parts: { event_log: [] } })
})

test("erasing a guest sets the personal fields of events to null that match the guest's orders or e-mail addresses", async () => {
  const shop = await useShop({ modules: [letters] })
  const [order, email] = [newId(), 'guest@example.com']
  await shop.apiOf(letters)?.send(order, 'other@example.com')
  await shop.apiOf(letters)?.send(newId(), email)
  await shop.apiOf(letters)?.send(newId(), 'other.guest@example.com')
  const ofLog = shop.platform.eventLog.personalDataOf([letterSent])
  await shop.db.transaction(async tx =>
    ofLog?.guests?.erase(tx, { orderIds: [order], emails: [email], buyers: [] })
  )
  expect(await shop.sql(`select payload ->> 'email' as email from cartwright.events order by id`)).toEqual([
    { email: null },
    { email: null },
    { email: 'other.guest@example.com' }
  ])
})

test.each(['ada@example.com', 'Ada <ada@example.com>', '203.0.113.7', '2001:db8::7'])(
  'a shop in a test rejects an event of the log with %s in a field that is not declared',
  async address => {
    const shop = await useShop({ modules: [letters] })
    await expect(shop.apiOf(letters)?.sendParcel(newId(), address)).rejects.toThrow(
      'the payload of letters.parcel_sent has personal data in to'
    )
    expect(await shop.sql('select from cartwright.events')).toEqual([])
  }
)
