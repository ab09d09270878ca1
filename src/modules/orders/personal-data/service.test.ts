import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { newWrite } from '../../../platform/idempotency/write.ts'
import { customer } from '../../../testing.ts'
import { shippingModule } from '../../shipping/index.ts'
import { type OrdersApi, ordersModule } from '../index.ts'

const SCHEMAS = ['orders', 'payments', 'shipping']
const EMAIL = 'ada@example.com'
const WORDS = [
  'Lovelace',
  'Drottninggatan',
  '111 51',
  EMAIL,
  'back door',
  'rang twice',
  'JJ00123',
  'dented',
  'engraved'
]

async function useErasure() {
  const shop = await useOrders()
  const { erase } = shop.apiOf(ordersModule) as OrdersApi
  const tables = await shop.sql(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = any ($1)`,
    [SCHEMAS]
  )
  const does = async (id: string, what: string, body: object) => {
    const { status, text } = await shop.admin.post(`/api/admin/orders/${id}/${what}`, body)
    expect(status, text).toBe(200)
  }
  return {
    ...shop,
    does,
    erase: (customerId: string) => shop.db.transaction(tx => erase(tx, customerId)),
    /** All rows of these modules, as text. */
    kept: async () => {
      const rows = await Promise.all(
        tables.map(async ({ name }) => ({
          name,
          rows: await shop.sql(`select to_jsonb(t) as row from ${name} t order by 1`)
        }))
      )
      return rows.toSorted((a, b) => String(a.name).localeCompare(String(b.name)))
    },
    /** The personal data of the customer, which no background job changes. */
    whose: () =>
      shop.sql(
        `select
           (select jsonb_agg(jsonb_build_array(id, customer_id, email, note, shipping_address) order by id)
             from orders.orders) as orders,
           (select jsonb_agg(jsonb_build_array(id, actor, reason) order by id) from orders.history) as history,
           (select jsonb_agg(jsonb_build_array(order_id, customer_id, token_version) order by order_id)
             from payments.accounts) as accounts,
           (select jsonb_agg(jsonb_build_array(id, customer_id) order by id) from payments.payments) as payments,
           (select jsonb_agg(jsonb_build_array(id, customer_id) order by id) from shipping.shipments) as shipments,
           (select count(*)::int from orders.checkouts) as checkouts`
      ),
    /** A paid, shipped, partially refunded and completed order. */
    done: async (caller: { token: string }, fields: object = {}) => {
      const metadata = { text: 'engraved' }
      const items = [{ ...itemOf(shop.mug, 2), metadata }]
      const order = { ...sent(shop.mug), items, email: EMAIL, note: 'The back door', payment: TRANSFER }
      const body = { ...order, ...fields }
      const { status, json, text } = await shop.as(caller).post('/api/orders', { metadata, ...body })
      expect(status, text).toBe(201)
      await shop.pay(json.id)
      await does(json.id, 'notes', { text: 'The parcel service rang twice' })
      await does(json.id, 'shipments', { carrier: 'Post', tracking_number: 'JJ00123' })
      await does(json.id, 'refunds', { amount: 100, reason: 'dented' })
      const { items: parcels } = (await shop.admin.get(`/api/admin/shipping/shipments?order_id=${json.id}`))
        .json
      for (const path of [`orders/${json.id}`, `shipping/shipments/${parcels[0].id}`])
        await shop.admin.patch(`/api/admin/${path}`, { metadata, private_metadata: metadata })
      // A job may have claimed the order before the request, and still be running.
      const open = 'select id from payments.operations where settled_at is null'
      await expect.poll(() => shop.sql(open)).toEqual([])
      await does(json.id, 'transition', { action: 'complete' })
      return json.id as string
    }
  }
}

test('erasing a customer leaves only amounts and products in orders, payments and shipments', async () => {
  const shop = await useErasure()
  const [ada, bob] = [customer(), customer()]
  const own = shop.as(ada)
  const done = await shop.done(ada, { billing_address: { ...STOCKHOLM, vat_id: 'SE556012579001' } })
  const digital = await shop.sell({ requires_shipping: false })
  const { id: canceled } = (await own.post('/api/orders', { items: [itemOf(digital)] })).json
  await own.post(`/api/orders/${canceled}/cancel`)
  const guests = await shop.anonymous.post('/api/orders/guest', { ...sent(shop.mug), email: EMAIL })
  const { id: claimed, order_token } = guests.json
  await own.post(`/api/orders/${claimed}/claim`, undefined, { 'x-order-token': order_token })
  await own.post(`/api/orders/${claimed}/cancel`)
  await own.post('/api/cart', itemOf(shop.mug))
  await own.post('/api/checkouts', { cart: true, email: EMAIL, shipping_address: STOCKHOLM })
  const read = async (id: string) => (await shop.admin.get(`/api/admin/orders/${id}`)).json
  await shop.sql(
    `with events as (
       insert into payments.events (id, provider, event_id, type, state, payment_id, next_check_at)
       select gen_random_uuid(), 'stripe', state, 'charge.succeeded', state, payments.id,
         case when state = 'received' then now() + interval '1 hour' end
       from payments.payments cross join unnest(array['applied', 'received']) as told (state) where order_id = $1
       returning id
     )
     insert into payments.event_bytes (event_id, raw) select id, 'who paid' from events`,
    [done]
  )
  const before = await read(done)
  expect(JSON.stringify(await shop.kept())).toContain(ada.id)

  await shop.erase(ada.id)
  const left = JSON.stringify(await shop.kept())
  for (const word of [...WORDS, ada.id]) expect(left, word).not.toContain(word)
  const after = await read(done)
  const { customer_id, email, note, shipping_address, billing_address, shipments, history, ...rest } = after
  expect(rest).toMatchObject({
    items: before.items.map((item: object) => ({ ...item, metadata: {} })),
    components: before.components,
    total: before.total,
    status: 'completed',
    tax_summary: before.tax_summary,
    number: before.number,
    payment_status: before.payment_status
  })
  expect({ customer_id, email, note, shipping_address, billing_address }).toEqual({
    customer_id: null,
    email: null,
    note: null,
    shipping_address: { country: 'SE' },
    billing_address: { country: 'SE' }
  })
  expect(shipments).toMatchObject([{ carrier: 'Post', tracking_number: null }])
  expect(history.at(-1)).toMatchObject({ action: 'erase', from: 'completed', to: 'completed', actor: null })
  expect((await read(canceled)).shipping_address).toBeNull()
  for (const id of [done, canceled, claimed]) expect((await own.get(`/api/orders/${id}`)).status).toBe(404)
  expect((await own.get('/api/orders?count=true')).json).toMatchObject({ items: [], total: 0 })
  expect(
    (await shop.anonymous.get(`/api/orders/guest/${claimed}`, undefined, { 'x-order-token': order_token }))
      .status
  ).toBe(404)
  // Waits until pending events are handled.
  expect(
    await shop.sql(
      'select state from payments.events join payments.event_bytes on event_bytes.event_id = events.id'
    )
  ).toEqual([{ state: 'received' }])
  // A second erasure changes nothing, and other customers keep their data.
  const settled = await shop.whose()
  await shop.erase(ada.id)
  await shop.erase(bob.id)
  expect(await shop.whose()).toEqual(settled)
})

test('an erased order is not reopened, and gets no new personal data', async () => {
  const shop = await useErasure()
  const ada = customer()
  const id = await shop.done(ada)
  const read = async () => (await shop.admin.get(`/api/admin/orders/${id}`)).json
  const [{ id: parcel }] = (await read()).shipments
  const arrived = { status: 'delivered', occurred_at: '2026-11-04T10:00:00Z' }
  const { json: told } = await shop.admin.post(`/api/admin/shipping/shipments/${parcel}/events`, arrived)
  await expect.poll(async () => (await read()).history.at(-1).action).toBe('deliver')
  // Completed by the shop, because an order that an administrator completed is never reopened.
  await shop.sql(`update orders.history set actor = null where order_id = $1 and action = 'complete'`, [id])
  await shop.erase(ada.id)
  const before = await read()
  expect(before).toMatchObject({ erased_at: expect.any(String), next_actions: ['return', 'refund', 'note'] })
  const wrong = { reason: 'the carrier meant another parcel' }
  const answers = await Promise.all([
    shop.admin.post(`/api/admin/orders/${id}/shipments/${parcel}/events/${told.events[0].id}/void`, wrong),
    shop.admin.post(`/api/admin/orders/${id}/transition`, { action: 'reopen' }),
    shop.admin.patch(`/api/admin/orders/${id}/shipments/${parcel}`, { tracking_number: 'JJ00123' })
  ])
  for (const { status, json } of answers)
    expect([status, json]).toMatchObject([409, { code: 'ORDER_ACTION_REFUSED', reason: 'erased' }])
  expect(await read()).toEqual(before)
})

test.each(['order', 'shipment'] as const)(
  'metadata of an erased %s takes no values, by request or by command, and deleting keys passes',
  async noun => {
    const shop = await useErasure()
    const ada = customer()
    const orderId = await shop.done(ada)
    const [shipment] = await shop.sql(
      'select id from shipping.shipments where order_id = $1 and sent_at is not null',
      [orderId]
    )
    await shop.erase(ada.id)
    const path = noun === 'order' ? `orders/${orderId}` : `shipping/shipments/${shipment?.id}`
    const id = noun === 'order' ? orderId : String(shipment?.id)
    const api = noun === 'order' ? shop.apiOf(ordersModule)?.orders : shop.apiOf(shippingModule)
    const read = async () => (await shop.admin.get(`/api/admin/${path}`)).json
    const before = await read()

    for (const change of [{ metadata: { gone: null, text: 'Ada' } }, { private_metadata: { text: 'Ada' } }]) {
      const { status, json } = await shop.admin.patch(`/api/admin/${path}`, change)
      expect([status, json.code]).toEqual([409, 'METADATA_ERASED'])
      await expect(api?.updateMetadata(id, change, newWrite())).rejects.toMatchObject({
        code: 'METADATA_ERASED'
      })
    }
    expect(await read()).toEqual(before)
    const deletion = { metadata: { gone: null, empty: '' } }
    expect((await shop.admin.patch(`/api/admin/${path}`, deletion)).status).toBe(200)
    expect(await api?.updateMetadata(id, deletion, newWrite())).toMatchObject({ metadata: {} })
  }
)

test('no personal data of a customer is erased while an order is open', async () => {
  const shop = await useErasure()
  const [ada, bob] = [customer(), customer()]
  await shop.done(ada)
  const open = (await shop.as(ada).post('/api/orders', { ...sent(shop.mug), payment: TRANSFER })).json
  const ofBob = await shop.done(bob)
  const before = await shop.whose()
  const refusal = { code: 'ORDER_STILL_OPEN', details: { numbers: [open.number] } }
  await expect(shop.erase(ada.id)).rejects.toMatchObject(refusal)
  expect(await shop.whose()).toEqual(before)
  await shop.pay(open.id)
  await expect(shop.erase(ada.id)).rejects.toMatchObject(refusal)
  await shop.does(open.id, 'shipments', {})
  await shop.does(open.id, 'transition', { action: 'complete' })
  await shop.erase(ada.id)
  expect((await shop.as(bob).get(`/api/orders/${ofBob}`)).json).toMatchObject({ email: EMAIL })
})
