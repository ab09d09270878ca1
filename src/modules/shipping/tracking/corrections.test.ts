import fc from 'fast-check'
import { expect, test } from 'vitest'
import { useParcels } from '../../../../test/support/shipping.ts'
import { newId } from '../../../kernel/ids.ts'
import type { ShipmentStatus } from './status.ts'

const RANKS: readonly ShipmentStatus[] = ['in_transit', 'delivered', 'returned']
const anyEvent = fc.record({
  status: fc.constantFrom<ShipmentStatus>('pending', ...RANKS),
  // Some events with the same carrier id have other contents.
  event_id: fc.constantFrom(undefined, undefined, 'e1', 'e2')
})
const anyLife = fc.record({
  events: fc.array(anyEvent, { minLength: 1, maxLength: 6 }),
  /** The index of an event to add, or to void once it is added. */
  deeds: fc.array(fc.record({ event: fc.nat({ max: 5 }), isVoid: fc.boolean() }), { maxLength: 14 })
})
/** An event with the carrier id of a voided one is added after the voiding. */
const ALIKE = {
  events: (['delivered', 'returned'] as const).map(status => ({ status, event_id: 'e1' as const })),
  deeds: [
    { event: 0, isVoid: false },
    { event: 0, isVoid: true }
  ]
}

async function useCorrections() {
  const shop = await useParcels()
  const admin = { actor: newId(), reason: 'wrong parcel' }
  return {
    ...shop,
    wrong: async (parcel: { id: string; orderId: string }, eventId: string) =>
      shop.db.transaction(tx =>
        shop.shipping.voidEvent(tx, { orderId: parcel.orderId, shipmentId: parcel.id, eventId, ...admin })
      ),
    idOf: async (shipment: string, description: string): Promise<string | undefined> => {
      const asked = [shipment, description]
      const of = 'select id from shipping.events where shipment_id = $1 and description = $2'
      return (await shop.sql(of, asked))[0]?.id as string | undefined
    }
  }
}

test('adding and voiding tracking events in any order, repeated, gives the status of the valid events', async () => {
  const { send, tell, wrong, idOf, read } = await useCorrections()
  await fc.assert(
    fc.asyncProperty(anyLife, async ({ events, deeds }) => {
      const parcel = await send()
      const voided = new Set<string>()
      const told = new Set<number>()
      const keyOf = (index: number) => events[index]?.event_id ?? `event ${index}`
      const all = [...events.keys()].map(event => ({ event, isVoid: false }))
      for (const { event: number, isVoid } of [...deeds, ...all]) {
        const event = number % events.length
        if (!isVoid) {
          const occurred_at = `2026-11-0${event + 1}T10:00:00Z`
          const body = { ...events[event], occurred_at, description: String(event) }
          expect((await tell(parcel.id, body)).status).toBe(200)
          told.add(event)
        } else if (told.has(event)) {
          const isNew = !voided.has(keyOf(event))
          const correction = await wrong(parcel, (await idOf(parcel.id, String(event))) ?? '')
          expect(correction !== undefined).toBe(isNew)
          voided.add(keyOf(event))
        }
      }
      const left = [...events.keys()].filter(event => !voided.has(keyOf(event)))
      const most = Math.max(0, ...left.map(event => RANKS.indexOf(events[event]?.status as ShipmentStatus)))
      const [{ status, events: visibleEvents }] = (await read(parcel.orderId)).json.items
      expect(status).toBe(RANKS[most])
      expect(
        new Set(visibleEvents.map(({ description }: { description: string }) => keyOf(Number(description))))
      ).toEqual(new Set(left.map(keyOf)))
    }),
    { numRuns: 25, examples: [[ALIKE]] }
  )
})

test('voided tracking events are visible only to administrators, with actor and reason, and the new status is emitted', async () => {
  const { send, tell, wrong, read, admin, receivedEvents, as, sql } = await useCorrections()
  const parcel = await send({ carrier: 'Post', tracking_number: 'PP7' })
  const arrived = { status: 'delivered', occurred_at: '2026-11-04T10:00:00Z', event_id: 'e2' }
  const { json } = await tell(parcel.id, arrived)
  await wrong(parcel, json.events[0].id)
  const visibleEvents = (await admin.get(`/api/admin/shipping/shipments/${parcel.id}`)).json
  expect(visibleEvents).toMatchObject({ status: 'in_transit', version: 3 })
  expect(visibleEvents.events).toMatchObject([
    {
      event_id: 'e2',
      voided_at: expect.any(String),
      voided_by: expect.any(String),
      void_reason: 'wrong parcel'
    }
  ])
  expect((await read(parcel.orderId)).json.items).toMatchObject([{ status: 'in_transit', events: [] }])
  expect((await as(null).get('/api/shipping/track/PP7')).json).toMatchObject({
    status: 'in_transit',
    events: []
  })
  // It is delivered in the end, which is emitted again.
  await tell(parcel.id, { ...arrived, event_id: 'e3' })
  const of = `${parcel.orderId} ${parcel.id}`
  await expect
    .poll(() => receivedEvents)
    .toEqual([`delivered ${of}`, `corrected ${of} in_transit`, `delivered ${of}`])

  const other = await send()
  await expect(wrong(other, json.events[0].id)).rejects.toMatchObject({ code: 'SHIPPING_EVENT_NOT_FOUND' })
  const stranger = { id: parcel.id, orderId: other.orderId }
  await expect(wrong(stranger, json.events[0].id)).rejects.toMatchObject({
    code: 'SHIPPING_SHIPMENT_NOT_FOUND'
  })
  expect(await sql('select 1 from shipping.events where voided_at is not null')).toHaveLength(1)
})
