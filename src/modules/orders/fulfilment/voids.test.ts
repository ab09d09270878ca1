import { describe, expect, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { type PaidOrders, usePaidOrders } from '../../../../test/support/paid-orders.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { defineModule } from '../../../module.ts'
import { type OrdersApi, orderShipmentVoidedEvent, orderShippedEvent, ordersModule } from '../index.ts'

shareShops()

const WRONG = { reason: 'it was the parcel beside it' }
const LABEL = { carrier: 'Post', tracking_number: 'PP 77' }
const one = { lines: [{ line: 1, quantity: 1 }] }
const ON_ITS_WAY = { status: 'in_transit', occurred_at: '2026-11-04T10:00:00Z' }

/** A paid or authorized order of three mugs, and the state of everything that it touches. */
async function useSent(options: Parameters<typeof usePaidOrders>[0] = {}) {
  const shop = await usePaidOrders(options)
  const send = async (id: string, body: object = {}): Promise<string> =>
    (await shop.does(id, 'shipments', body)).shipments.at(-1).id
  return {
    ...shop,
    send,
    paid: async (): Promise<string> => {
      const { id } = await shop.order(3)
      await shop.pay(id)
      return id
    },
    withdraw: (id: string, parcel: string, headers = {}) =>
      shop.admin.post(`/api/admin/orders/${id}/shipments/${parcel}/void`, WRONG, headers),
    stock: () => stockOf(shop),
    /** The shipments of an order as its buyer sees them. */
    parcels: async (id: string) =>
      (await shop.buyer.get(`/api/shipping/order/${id}`)).json.items.map(
        ({ status, service, lines }: { status: string; service: string; lines: object }) => [
          status,
          service,
          lines
        ]
      )
  }
}

async function stockOf(shop: Pick<PaidOrders, 'sql' | 'mug'>) {
  const open = () => shop.sql('select id from inventory.requests where done_at is null')
  await expect.poll(open).toEqual([])
  const [level] = await shop.sql('select on_hand, reserved from inventory.levels where item_id = $1', [
    shop.mug
  ])
  return level
}

describe('voiding a shipment', () => {
  test.each([
    ['all of an order', {}, 3],
    ['some of an order', one, 1]
  ])(
    'a voided shipment with %s is sent again with the same shipping method, and captures nothing twice',
    async (_, body, quantity) => {
      needsOwnShop()
      const shop = await useSent({ capture: 'manual' })
      const id = await shop.paid()
      const [before, waiting, stock] = [await shop.read(id), await shop.parcels(id), await shop.stock()]
      expect(stock).toEqual({ on_hand: 100, reserved: 3 })
      const parcel = await shop.send(id, { ...body, ...LABEL })
      await shop.settled()
      expect(await shop.stock()).toEqual({ on_hand: 100 - quantity, reserved: 3 - quantity })
      const { status, text, json } = await shop.withdraw(id, parcel)
      expect(status, text).toBe(200)
      const paid = { payment_status: 'paid' }
      expect(json).toMatchObject({ ...paid, status: 'paid', fulfillment_status: 'none', items: before.items })
      expect(json.next_actions).toEqual(before.next_actions)
      expect(json.history.at(-1)).toMatchObject({ action: 'void_shipment', to: 'placed', ...WRONG })
      expect(json.shipments).toMatchObject([
        {
          id: parcel,
          voided_at: expect.any(String),
          voided_by: expect.any(String),
          void_reason: WRONG.reason
        }
      ])
      expect(await shop.stock()).toEqual(stock)
      expect((await shop.parcels(id)).toSorted()).toEqual([
        ['pending', 'Standard', [{ line: 1, quantity: 3 }]],
        ['voided', 'Standard', [{ line: 1, quantity }]]
      ])
      expect(waiting).toEqual([['pending', 'Standard', [{ line: 1, quantity: 3 }]]])

      await shop.send(id, { ...body, ...LABEL })
      await shop.settled()
      const { status: last } = await shop.read(id)
      expect(last).toBe(quantity === 3 ? 'shipped' : 'paid')
      expect(await shop.stock()).toEqual({ on_hand: 100 - quantity, reserved: 3 - quantity })
      expect(await shop.sql(`select amount::int from payments.operations where kind = 'capture'`)).toEqual([
        { amount: before.total }
      ])
      expect(await shop.sql('select captured::int from payments.accounts')).toEqual([
        { captured: before.total }
      ])
      // The tracking number is that of the valid shipment.
      expect((await shop.anonymous.get('/api/shipping/track/PP77')).json).toMatchObject({
        status: 'in_transit'
      })
    }
  )

  test('a voided shipment is marked as voided in every view, and no message lists it as shipped', async () => {
    const shop = await useSent()
    const id = await shop.paid()
    const parcel = await shop.send(id, LABEL)
    const shipmentsInSummary = async () => {
      const { orderSummaries } = shop.apiOf(ordersModule) as OrdersApi
      return (await orderSummaries(shop.db, [id])).flatMap(({ shipments }) => shipments.map(each => each.id))
    }
    expect(await shipmentsInSummary()).toEqual([parcel])
    const of = (await shop.admin.get(`/api/admin/shipping/shipments/${parcel}`)).json
    const path = `/api/admin/shipping/packing-slips?day=${of.sent_at.slice(0, 10)}`
    const slips = async () => (await shop.admin.get(path)).text
    expect(await slips()).toContain('PP 77')
    expect((await shop.withdraw(id, parcel)).status).toBe(200)
    expect(await shipmentsInSummary()).toEqual([])
    expect(await slips()).not.toContain('PP 77')
    expect((await shop.anonymous.get('/api/shipping/track/PP77')).json).toMatchObject({
      status: 'voided',
      estimated_delivery: null,
      events: []
    })
    const { json } = await shop.admin.get(`/api/admin/shipping/shipments/${parcel}`)
    expect(json).toMatchObject({ status: 'voided', void_reason: WRONG.reason, voided_by: expect.any(String) })
    const listed = await shop.admin.get('/api/admin/shipping/shipments?status=voided')
    expect(listed.json.items).toMatchObject([{ id: parcel }])
    const own = (await shop.buyer.get(`/api/orders/${id}`)).json
    expect(own).toMatchObject({ status: 'paid', shipments: [{ voided_at: expect.any(String) }] })
    expect(JSON.stringify(own)).not.toContain(WRONG.reason)
    // It has no more events and no label.
    const told = await shop.admin.post(`/api/admin/shipping/shipments/${parcel}/events`, ON_ITS_WAY)
    expect([told.status, told.json.code]).toEqual([409, 'SHIPPING_SHIPMENT_VOIDED'])
    await shop.send(id, one)
    const relabeled = await shop.admin.patch(`/api/admin/orders/${id}/shipments/${parcel}`, LABEL)
    expect([relabeled.status, relabeled.json.reason]).toEqual([409, 'voided'])
  })

  test('a shipment is voided once, with a repeated key and without one, and emits one event', async () => {
    const heard: object[] = []
    const ear = defineModule({
      name: 'ear',
      description: 'Hears.',
      basePaths: [],
      requires: {},
      uses: {},
      subscribes: [orderShipmentVoidedEvent, orderShippedEvent],
      setup: async () => ({
        api: {},
        eventHandlers: {
          'orders.shipped': async () => {},
          'orders.shipment_voided': async (_tx, events) => {
            heard.push(...events.map(({ payload }) => payload))
          }
        }
      })
    })
    const shop = await useSent({ others: [ear] })
    const id = await shop.paid()
    const parcel = await shop.send(id)
    const key = { 'idempotency-key': crypto.randomUUID() }
    const answers = [
      await shop.withdraw(id, parcel, key),
      await shop.withdraw(id, parcel, key),
      await shop.withdraw(id, parcel)
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect(new Set(answers.map(({ json }) => json.version)).size).toBe(1)
    expect(await shop.stock()).toEqual({ on_hand: 100, reserved: 3 })
    expect(
      await shop.sql(`select count(*)::int as times from inventory.movements where kind = 'unship'`)
    ).toEqual([{ times: 1 }])
    const { number, customer_id } = answers[0]?.json ?? {}
    const told = { order_id: id, number, customer_id, shipment_id: parcel }
    await expect.poll(() => heard).toEqual([told])
  })

  test.each([
    [
      'an administrator',
      (shop: Pick<PaidOrders, 'does'>, id: string) => shop.does(id, 'transition', { action: 'complete' })
    ],
    [
      'the shop',
      async (shop: Pick<PaidOrders, 'sql' | 'db'>) => {
        await shop.sql(`update orders.orders set progressed_at = progressed_at - interval '31 days'`)
        await doOnceMore(shop, 'orders.complete_orders')
      }
    ]
  ])('voiding a shipment reopens an order that %s has completed', async (_, complete) => {
    const shop = await useSent()
    const id = await shop.paid()
    const parcel = await shop.send(id)
    await complete(shop, id)
    expect((await shop.read(id)).status).toBe('completed')
    const { json } = await shop.withdraw(id, parcel)
    expect(json).toMatchObject({ status: 'paid', items: [{ fulfilled: 0 }] })
    expect(json.history.at(-1)).toMatchObject({ action: 'void_shipment', from: 'completed', to: 'placed' })
    // The order can be canceled now, and is refunded.
    await shop.buyer.post(`/api/orders/${id}/cancel`)
    await shop.becomes(id, { status: 'canceled', payment_status: 'refunded' })
    expect(await shop.stock()).toEqual({ on_hand: 100, reserved: 0 })
  })

  test('a shipment cannot be voided after a carrier event, unless that was voided or only reports a label', async () => {
    const shop = await useSent()
    const id = await shop.paid()
    const parcel = await shop.send(id)
    const tell = (body: object) => shop.admin.post(`/api/admin/shipping/shipments/${parcel}/events`, body)
    await tell({ ...ON_ITS_WAY, status: 'pending' })
    const { json: told } = await tell(ON_ITS_WAY)
    const before = await shop.read(id)
    const refused = await shop.withdraw(id, parcel)
    expect([refused.status, refused.json.code]).toEqual([409, 'SHIPPING_SHIPMENT_LEFT'])
    expect(await shop.read(id)).toEqual(before)
    const event = told.events.find(({ status }: { status: string }) => status === 'in_transit').id
    await shop.does(id, `shipments/${parcel}/events/${event}/void`, WRONG)
    expect((await shop.withdraw(id, parcel)).status).toBe(200)
    expect((await shop.parcels(id)).map(([is]: [string]) => is)).toEqual(['voided', 'pending'])
  })

  test.each(['returns', 'refunds'])(
    'a shipment cannot be voided when there are %s that no other parcel explains',
    async what => {
      const shop = await useSent()
      const id = await shop.paid()
      const [first, second] = [await shop.send(id, one), await shop.send(id)]
      await shop.does(id, what, { ...one, ...(what === 'refunds' && { reason: 'chipped' }) })
      // The units were in the second shipment.
      expect((await shop.withdraw(id, first)).status).toBe(200)
      const before = await shop.read(id)
      const { status, json } = await shop.withdraw(id, second)
      const reason = what === 'returns' ? 'returned' : 'refunded'
      expect([status, json]).toMatchObject([409, { code: 'ORDER_ACTION_REFUSED', reason }])
      expect(await shop.read(id)).toEqual(before)
    }
  )

  test('a shipment with digital units, or of an erased order, cannot be voided', async () => {
    const shop = await useSent({ capture: 'manual' })
    const song = await shop.sell({ requires_shipping: false })
    const payment = { provider: 'sandbox', method: 'card' }
    const items = [{ variant_id: song, quantity: 1 }]
    const { json } = await shop.buyer.post('/api/orders', { items, payment })
    await shop.pay(json.id)
    const refused = await shop.withdraw(json.id, await shop.send(json.id))
    expect([refused.status, refused.json.reason]).toEqual([409, 'digital'])

    const id = await shop.paid()
    const parcel = await shop.send(id)
    await shop.settled()
    for (const each of [json.id, id]) await shop.does(each, 'transition', { action: 'complete' })
    const { erase } = shop.apiOf(ordersModule) as OrdersApi
    await shop.db.transaction(tx => erase(tx, shop.caller.id))
    const { status, json: erased } = await shop.withdraw(id, parcel)
    expect([status, erased.reason]).toEqual([409, 'erased'])
  })

  test('voiding a shipment needs its order and a reason', async () => {
    const shop = await useSent()
    const [id, other] = [await shop.paid(), await shop.paid()]
    const parcel = await shop.send(id)
    const path = `/api/admin/orders/${id}/shipments/${parcel}/void`
    const codeOf = ({ status, json }: { status: number; json: { code?: string } }) => `${status} ${json.code}`
    expect(codeOf(await shop.withdraw(other, parcel))).toBe('404 ORDER_SHIPMENT_NOT_FOUND')
    expect(codeOf(await shop.withdraw(id, newId()))).toBe('404 ORDER_SHIPMENT_NOT_FOUND')
    expect(codeOf(await shop.withdraw(newId(), parcel))).toBe('404 ORDER_NOT_FOUND')
    expect(codeOf(await shop.withdraw(id, parcel, { 'if-match': '"1"' }))).toMatch('ORDER_STALE')
    expect((await shop.admin.post(path, {})).status).toBe(400)
    expect(await shop.stock()).toEqual({ on_hand: 97, reserved: 3 })
  })
})
