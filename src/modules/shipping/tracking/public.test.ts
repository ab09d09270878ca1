import { expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { useParcels } from '../../../../test/support/shipping.ts'
import { newId } from '../../../kernel/ids.ts'
import { deriveOrderToken } from '../../payments/index.ts'

shareShops()

const SORTED = { status: 'in_transit', occurred_at: '2026-11-02T10:00:00.000Z', location: 'Lund' }

test('public tracking by number shows the parcel in one statement, and nothing of the buyer', async () => {
  const { send, tell, as, record, db, shipping } = await useParcels()
  const { id, orderId } = await send({ carrier: 'ups', tracking_number: '1Z5R89390357567127' })
  await tell(id, { ...SORTED, description: 'Sorted', estimated_delivery: '2026-11-05', event_id: 'e1' })
  const track = (number: string) => as(null).get(`/api/shipping/track/${encodeURIComponent(number)}`)
  await track('0')
  const { result, statements } = await record(() => track(' 1z-5r8939 0357567127'))
  const { status, json } = result
  expect(statements).toEqual(['shipping.find_tracked'])
  expect([status, json]).toEqual([
    200,
    {
      tracking_number: '1Z5R89390357567127',
      carrier: 'UPS',
      status: 'in_transit',
      estimated_delivery: '2026-11-05',
      events: [{ ...SORTED, description: 'Sorted' }],
      tracking_url: 'https://www.ups.com/track?tracknum=1Z5R89390357567127'
    }
  ])
  const code = async (number: string) => {
    const answer = await track(number)
    return [answer.status, answer.json.code]
  }
  const none = [404, 'SHIPPING_TRACKING_NOT_FOUND']
  expect(await code('1Z5R89390357567128')).toEqual(none)
  expect(await code('---')).toEqual(none)
  // A corrected number no longer finds the parcel.
  const label = { carrier: 'ups', tracking_number: '1Z879E930346834440', unchecked: false }
  await db.transaction(tx => shipping.updateLabel(tx, id, label))
  expect(await code('1Z5R89390357567127')).toEqual(none)
  expect((await track('1Z879E930346834440')).json.events).toHaveLength(1)
  await db.transaction(tx => shipping.erase(tx, [orderId]))
  expect(await code('1Z879E930346834440')).toEqual(none)
})

test('a tracking number of several carriers finds the parcel of the named carrier, else the last one', async () => {
  const { send, as } = await useParcels()
  await send({ carrier: 'dpd', tracking_number: '01234567890123' })
  await send({ carrier: 'Aunt Ida', tracking_number: '0123-4567890123' })
  const carrierOf = async (query: string) => {
    const { status, json } = await as(null).get(`/api/shipping/track/01234567890123${query}`)
    return status === 200 ? json.carrier : status
  }
  expect(await carrierOf('')).toBe('Aunt Ida')
  expect(await carrierOf('?carrier=DPD')).toBe('DPD')
  expect(await carrierOf('?carrier=aunt%20ida')).toBe('Aunt Ida')
  expect(await carrierOf('?carrier=gls')).toBe(404)
})

test('guessing tracking numbers is rate limited', async () => {
  const { as } = await useParcels({
    CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
    CARTWRIGHT__SHIPPING__TRACKED_PER_MINUTE: '3'
  })
  const statuses = []
  for (const number of ['1', '2', '3', '4'])
    statuses.push((await as(null).get(`/api/shipping/track/${number}`)).status)
  expect(statuses).toEqual([404, 404, 404, 429])
})

test('a guest sees shipments with the order token, until the order is assigned to a customer or erased', async () => {
  const { send, platform, as, read, db, shipping, buyer } = await useParcels()
  const { orderId } = await send({ customerId: null })
  const [token, later] = [
    deriveOrderToken(platform.secrets, orderId, 1),
    deriveOrderToken(platform.secrets, orderId, 2)
  ]
  const bodyOf = async (id: string, token?: string) => {
    const headers = token === undefined ? {} : { 'x-order-token': token }
    const { status, json } = await as(null).get(`/api/shipping/guest/order/${id}`, undefined, headers)
    const { request_id: _, ...body } = json
    return [status, body]
  }
  expect(await bodyOf(orderId, token)).toMatchObject([
    200,
    { order_id: orderId, items: [{ status: 'in_transit' }] }
  ])
  const none = await bodyOf(newId(), token)
  expect(none).toMatchObject([404, { code: 'SHIPPING_SHIPMENTS_NOT_FOUND' }])
  for (const wrong of [undefined, 'ort_x', later, deriveOrderToken(platform.secrets, newId(), 1)])
    expect(await bodyOf(orderId, wrong)).toEqual(none)
  expect((await read(orderId)).status).toBe(404)
  const own = await send()
  expect(await bodyOf(own.orderId, deriveOrderToken(platform.secrets, own.orderId, 1))).toEqual(none)

  await db.transaction(tx => shipping.assignCustomer(tx, orderId, buyer.id))
  expect(await bodyOf(orderId, token)).toEqual(none)
  expect((await read(orderId)).status).toBe(200)
  await db.transaction(tx => shipping.erase(tx, [orderId]))
  expect([await bodyOf(orderId, token), (await read(orderId)).status]).toEqual([none, 404])
})

test('erasing an order removes all texts from its shipments', async () => {
  const { send, tell, sql, db, shipping } = await useParcels()
  const { id, orderId } = await send({ carrier: 'Post', tracking_number: 'JJ1' })
  const other = await send({ carrier: 'Post', tracking_number: 'JJ2' })
  const words = {
    ...SORTED,
    description: 'Left with Mrs Lovelace',
    location: 'Drottninggatan',
    event_id: 'e1'
  }
  for (const parcel of [id, other.id]) await tell(parcel, words)
  await db.transaction(tx => shipping.erase(tx, [orderId]))
  const kept = (of: string) =>
    sql('select description, location, event_id, status from shipping.events where shipment_id = $1', [of])
  expect(await kept(id)).toEqual([
    { description: null, location: null, event_id: null, status: 'in_transit' }
  ])
  expect(await kept(other.id)).toMatchObject([{ description: 'Left with Mrs Lovelace' }])
})
