import { expect, test } from 'vitest'
import { labelCarrier } from '../../../../test/support/carrier.ts'
import { CHECKOUT_MODULES, itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { needsOwnShop, openShared, shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'
import { shippingModule } from '../index.ts'
import { deleteOldLabelDocuments } from './repository.ts'

shareShops()

/** A placed order whose goods are still to be shipped, in a shop with a label provider. */
async function useOrderToShip() {
  const carrier = await openShared(['carrier'], async () => labelCarrier())
  // Earlier tests of a shared shop have used it.
  carrier.bought.clear()
  carrier.voided.clear()
  carrier.requests.length = 0
  const shop = await useCheckouts({
    modules: [...CHECKOUT_MODULES, carrier.module],
    settings: {
      CARTWRIGHT__MODULES__INVENTORY__ENABLED: 'false',
      CARTWRIGHT__MODULES__PAYMENTS__ENABLED: 'false'
    }
  })
  await shop.usePost()
  const { admin } = shop
  const buyer = shop.as(customer())
  const items = [itemOf(await shop.sell({ weight_grams: 250 }), 2)]
  const order = (await buyer.post('/api/orders', { items, shipping_address: STOCKHOLM })).json
  const [shipment] = (await buyer.get(`/api/shipping/order/${order.id}`)).json.items
  const pathOf = (id: string) => `/api/admin/shipping/shipments/${id}/label`
  const path = pathOf(shipment.id)
  const becomes = (status: string, of = path) =>
    expect.poll(async () => (await admin.get(of)).json.status, { interval: 20, timeout: 60_000 }).toBe(status)
  /** Ships the whole order as one parcel, and returns its id. */
  const ship = async (tracking_number: string): Promise<string> => {
    const { status, text } = await admin.post(`/api/admin/orders/${order.id}/shipments`, {
      carrier: 'Swift',
      tracking_number
    })
    expect(status, text).toBe(200)
    const sent = (await buyer.get(`/api/shipping/order/${order.id}`)).json.items
    return sent.find((each: { sent_at: unknown }) => each.sent_at !== null).id
  }
  return { ...shop, ...carrier, buyer, order, shipment, path, pathOf, becomes, ship }
}

test('a label is bought once, downloaded, follows its parcel, and is voided with it', async () => {
  const shop = await useOrderToShip()
  const { admin, path, pathOf, becomes, bought, voided, requests, ship, order } = shop
  expect((await admin.get(path)).json.code).toBe('SHIPPING_LABEL_NOT_FOUND')
  const headers = { 'idempotency-key': crypto.randomUUID() }
  const created = await admin.post(path, { service: 'express' }, headers)
  expect([created.status, created.json.status], created.text).toEqual([202, 'requested'])
  const again = await admin.post(path, { service: 'express' }, headers)
  expect(again.json.id).toBe(created.json.id)
  expect((await admin.post(path, {})).json.code).toBe('SHIPPING_LABEL_EXISTS')
  await becomes('ready')
  expect(requests).toMatchObject([
    {
      key: created.json.id,
      orderNumber: order.number,
      service: 'express',
      option: { carrier: null, name: 'Standard' },
      recipient: { name: STOCKHOLM.name, country: 'SE' },
      weightGrams: 500,
      lines: [{ quantity: 2 }]
    }
  ])
  expect((await admin.get(path)).json).toMatchObject({
    carrier: 'Swift',
    tracking_number: 'SW1',
    problem: null
  })
  const file = await admin.get(`${path}/file`)
  expect([file.status, file.headers['content-type'], file.text]).toEqual([
    200,
    'application/pdf',
    `%PDF ${STOCKHOLM.name}`
  ])
  const parcel = await ship('sw 1')
  expect((await admin.get(pathOf(parcel))).json).toMatchObject({ id: created.json.id, status: 'ready' })
  const voiding = await admin.post(`/api/admin/orders/${order.id}/shipments/${parcel}/void`, {
    reason: 'Not sent'
  })
  expect(voiding.status, voiding.text).toBe(200)
  await becomes('voided', pathOf(parcel))
  expect([[...bought.keys()], [...voided]]).toEqual([[created.json.id], [created.json.id]])
  expect((await admin.get(`${pathOf(parcel)}/file`)).json.code).toBe('SHIPPING_LABEL_FILE_NOT_FOUND')
  expect((await admin.post(pathOf(parcel), {})).json.code).toBe('SHIPPING_LABEL_NOT_POSSIBLE')
})

test('a label whose response was lost is requested again with the same key, and bought once', async () => {
  const { admin, path, becomes, bought, requests, service } = await useOrderToShip()
  await service.failNext('lost')
  await admin.post(path, {})
  await becomes('ready')
  expect(requests).toHaveLength(2)
  expect(new Set(requests.map(({ key }) => key)).size).toBe(1)
  expect(bought.size).toBe(1)
})

test('a refused label says why, and another one can be requested', async () => {
  const { admin, path, becomes, voided } = await useOrderToShip()
  await admin.post(path, { weight_grams: 90_000 })
  await becomes('failed')
  expect((await admin.get(path)).json.problem).toBe('Too heavy.')
  expect((await admin.delete(path)).json.status).toBe('failed')
  expect((await admin.post(path, {})).status).toBe(202)
  await becomes('ready')
  const stale = await admin.delete(path, undefined, { 'if-match': '"99"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'SHIPPING_LABEL_STALE'])
  expect((await admin.delete(path)).status).toBe(200)
  await becomes('voided')
  expect(voided.size).toBe(1)
})

test('the label of a canceled order is voided', async () => {
  const { admin, path, becomes, bought, voided, order } = await useOrderToShip()
  await admin.post(path, {})
  await becomes('ready')
  expect((await admin.post(`/api/admin/orders/${order.id}/cancel`, {})).status).toBe(200)
  await becomes('voided')
  expect([...voided]).toEqual([...bought.keys()])
})

test('a label stays when a parcel was sent, which may have it, also when the rest is canceled', async () => {
  const { admin, path, becomes, order } = await useOrderToShip()
  await admin.post(path, {})
  await becomes('ready')
  const units = { lines: [{ line: 1, quantity: 1 }] }
  const orderPath = `/api/admin/orders/${order.id}`
  expect((await admin.post(`${orderPath}/shipments`, { ...units, carrier: 'Swift' })).status).toBe(200)
  const canceled = await admin.post(`${orderPath}/cancel`, units)
  expect(canceled.status, canceled.text).toBe(200)
  expect((await admin.get(path)).json.status).toBe('ready')
})

test('a label needs a known provider and the present version of a shipment, and only administrators create it', async () => {
  const { admin, path, pathOf, buyer, anonymous } = await useOrderToShip()
  const unknown = await admin.post(path, { provider: 'other' })
  expect([unknown.status, unknown.json.code, unknown.json.providers]).toEqual([
    400,
    'SHIPPING_LABEL_PROVIDER_UNKNOWN',
    ['swift']
  ])
  const stale = await admin.post(path, {}, { 'if-match': '"99"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'SHIPPING_SHIPMENT_STALE'])
  const missing = await admin.post(pathOf(crypto.randomUUID()), {})
  expect([missing.status, missing.json.code]).toEqual([404, 'SHIPPING_SHIPMENT_NOT_FOUND'])
  expect([(await buyer.post(path, {})).status, (await anonymous.get(`${path}/file`)).status]).toEqual([
    403, 401
  ])
})

test('the document of a label is deleted with the personal data of the order, and after some months', async () => {
  needsOwnShop()
  const { admin, path, becomes, db, sql, apiOf, order } = await useOrderToShip()
  await admin.post(path, {})
  await becomes('ready')
  expect(await db.run(deleteOldLabelDocuments, { days: 90, limit: 10 })).toBe(0)
  await sql("update shipping.labels set created_at = now() - interval '91 days'")
  expect(await db.run(deleteOldLabelDocuments, { days: 90, limit: 10 })).toBe(1)
  expect((await admin.get(`${path}/file`)).json.code).toBe('SHIPPING_LABEL_FILE_NOT_FOUND')
  expect((await admin.get(path)).json).toMatchObject({ tracking_number: 'SW1', media_type: null })
  await sql("update shipping.labels set document = 'x', media_type = 'image/png'")
  await db.transaction(async tx => apiOf(shippingModule)?.erase(tx, [order.id]))
  const [row] = await sql('select document, tracking_number, tracking_key from shipping.labels')
  expect(row).toEqual({ document: null, tracking_number: null, tracking_key: null })
})
