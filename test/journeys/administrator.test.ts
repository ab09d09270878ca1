import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { STOCKHOLM, usePost } from '../support/checkouts.ts'
import { PATIENCE } from '../support/mailing-shop.ts'
import { useReceiver } from '../support/webhook-receiver.ts'
import {
  ADMIN,
  describeOnAllServices,
  EMAIL,
  expectSuccess,
  logInAt,
  openShop,
  PASSWORD,
  type ShopServices,
  TRANSFER
} from './shop.ts'

const PACKER = { email: 'packer@shop.example', password: 'a tape and a pair of scissors' }
const STOCKROOM = 'stockroom@shop.example'
const BOB = 'bob@example.com'
const EVE = 'eve@example.com'

const CSV = { 'content-type': 'text/csv' }
const PRODUCTS = `Handle,Title,Status,Variant SKU,Variant Price
mug,Fika mug,active,MUG,12.00
pot,Coffee pot,active,POT,45.00
tin,Tea tin,active,TIN,8.00
`
const COUNTED = `sku,on_hand,low_threshold
MUG,20,2
POT,5,3
TIN,50,10
`

describeOnAllServices(
  ground => {
    test('an administrator runs a shop for a day, and in the evening orders, payments and stock add up', async () => {
      const day = await openDay(ground)
      await furnish(day)
      const packer = await hire(day)
      const hears = await tellTheWarehouse(day)
      const orders = await sell(day)
      await pack(day, packer, orders.pots)
      await giveBack(day, orders)
      await moderate(day)
      await rest(day)
      await dismiss(day)
      await close(day, orders)
      await hears(orders)
    })
  },
  { areExpensive: true }
)

type Shop = Awaited<ReturnType<typeof openDay>>
type Order = { id: string; number: string; total: number }
type Orders = Awaited<ReturnType<typeof sell>>

async function openDay(ground: ShopServices) {
  const receiver = await useReceiver()
  const shop = await openShop(ground, {
    CARTWRIGHT__NOTIFICATIONS__STAFF: `[${STOCKROOM}]`,
    CARTWRIGHT__REVIEWS__MODERATION: 'before'
  })
  const person = async (email: string) => {
    await expectSuccess(shop.anonymous.post('/api/auth/register', { email, password: PASSWORD }))
    return shop.logIn({ email, password: PASSWORD })
  }
  return { ...shop, receiver, ada: await person(EMAIL), bob: await person(BOB) }
}

/** Everything runs, nothing is sold yet; goods are imported, counted, and can be sent. */
async function furnish({ admin, anonymous }: Shop): Promise<void> {
  const { items: modules, database, cache } = await expectSuccess(admin.get('/api/admin/modules'))
  expect(modules.filter((each: { health: string }) => each.health !== 'up')).toEqual([])
  expect([database, cache]).toEqual(['up', 'up'])
  expect(await expectSuccess(admin.get('/api/admin/dashboard'))).toMatchObject({
    orders: { made: 0, placed: 0, canceled: 0, units: 0, totals: [], top_products: [] },
    revenue: [],
    new_customers: 2,
    low_stock: { total: 0, items: [] },
    trouble: { dead_events: 0, quarantined_payments: 0 }
  })

  const imported = await expectSuccess(admin.post('/api/catalog/import', PRODUCTS, CSV))
  expect(imported).toMatchObject({ products: { created: 3, failed: 0 }, errors: [], ignored_columns: [] })
  const counted = await expectSuccess(admin.post('/api/inventory/import?reason=Opening', COUNTED, CSV))
  expect(counted).toMatchObject({ failed: 0, levels: { counted: 3 } })
  await usePost((path, body) => expectSuccess(admin.post(`/api/admin/${path}`, body)))
  const opening = await expectSuccess(
    admin.post('/api/admin/promotions', {
      name: 'Opening',
      class: 'order',
      needs_code: true,
      effect: { type: 'percentage', percentage_ppm: 100_000 }
    })
  )
  await expectSuccess(admin.post(`/api/admin/promotions/${opening.id}/codes`, { code: 'OPENING' }))

  // Where shoppers ask all of it is known a moment later.
  const items = [itemOf(await variantOf(anonymous, 'mug'), 1)]
  const asked = { items, shipping_address: STOCKHOLM, codes: ['OPENING'] }
  const costs = async () => (await anonymous.post('/api/checkouts/guest', asked)).json?.total
  await expect.poll(costs, PATIENCE).toBe(1_080 + 490)
}
const itemOf = (variant_id: string, quantity: number) => ({ variant_id, quantity })
const variantOf = async (caller: Shop['anonymous'], slug: string): Promise<string> => {
  const read = () => caller.get(`/api/products/${slug}`)
  await expect.poll(async () => (await read()).status, PATIENCE).toBe(200)
  return (await read()).json.variants[0].id
}

/** An invited administrator has access to orders and shipping only. */
async function hire({ admin, backOffice, anonymous }: Shop): Promise<Shop['admin']> {
  const { code } = await expectSuccess(admin.post('/api/auth/invitations', {}))
  const { user } = await expectSuccess(anonymous.post('/api/auth/register', { ...PACKER, invitation: code }))
  const before = await logInAt(backOffice, PACKER)
  expect((await before.get('/api/admin/orders')).status).toBe(403)
  const rights = { role: 'admin', scopes: ['orders', 'shipping'] }
  expect(await expectSuccess(admin.patch(`/api/admin/users/${user.id}`, { rights }))).toMatchObject(rights)

  const packer = await logInAt(backOffice, PACKER)
  expect(await expectSuccess(packer.get('/api/admin/orders'))).toMatchObject({ items: [] })
  const refused = [
    packer.post('/api/catalog/products', { name: 'Mine', variants: [{ sku: 'MINE', price: 1 }] }),
    packer.post('/api/admin/promotions', { name: 'Mine', class: 'order', effect: { type: 'free_shipping' } }),
    ...['users', 'audit', 'config', 'dashboard', 'payments'].map(each => packer.get(`/api/admin/${each}`)),
    packer.put('/api/admin/maintenance', { enabled: true }),
    packer.patch(`/api/admin/users/${user.id}`, { rights: { role: 'admin', scopes: null } })
  ]
  for (const { status, text } of await Promise.all(refused)) expect(status, text).toBe(403)
  return packer
}

/** Another program is told of orders. Answers what proves in the evening that it was. */
async function tellTheWarehouse({ admin, receiver }: Shop) {
  const event_types = ['orders.placed', 'orders.canceled']
  const wanted = { url: receiver.url, event_types, description: 'the warehouse' }
  const { secret } = await expectSuccess(admin.post('/api/admin/webhooks/endpoints', wanted))
  const webhook = new Webhook(secret)
  type Told = { type: string; data: { order_id: string; number: string } }
  return async ({ pots, tins, mugs, unpaid }: Orders) => {
    await expect.poll(() => receiver.received.length, PATIENCE).toBe(4)
    const told = receiver.received.map(({ body, headers }) => {
      const { type, data } = webhook.verify(body, headers as Record<string, string>) as Told
      return [type, data.order_id, data.number]
    })
    const heard = (type: string, { id, number }: Order) => [type, id, number]
    const placed = [pots, tins, mugs].map(each => heard('orders.placed', each))
    expect(told.sort()).toEqual([...placed, heard('orders.canceled', unpaid)].sort())
  }
}

/** Four orders, of which three are paid; a code takes a tenth off one of them, and coffee pots run low. */
async function sell({ admin, ada, bob, anonymous, mail, receive }: Shop) {
  const [mug, pot, tin] = await Promise.all(['mug', 'pot', 'tin'].map(slug => variantOf(anonymous, slug)))
  if (mug === undefined || pot === undefined || tin === undefined) throw new Error('nothing is sold')
  const order = (items: object[], more: object = {}) => ({
    items,
    shipping_address: STOCKHOLM,
    payment: TRANSFER,
    ...more
  })
  const pots: Order = await expectSuccess(ada.post('/api/orders', order([itemOf(mug, 2), itemOf(pot, 1)])))
  const guest = order([itemOf(tin, 3), itemOf(mug, 1)], { email: EVE })
  const tins: Order = await expectSuccess(anonymous.post('/api/orders/guest', guest))
  const coded = order([itemOf(mug, 2)], { codes: ['OPENING'] })
  const mugs: Order = await expectSuccess(bob.post('/api/orders', coded))
  const unpaid: Order = await expectSuccess(bob.post('/api/orders', order([itemOf(pot, 1)])))
  expect([pots, tins, mugs, unpaid].map(({ total }) => total)).toEqual([
    ...[2 * 1_200 + 4_500 + 490, 3 * 800 + 1_200 + 490],
    ...[2 * 1_080 + 490, 4_500 + 490]
  ])
  for (const { id } of [pots, tins, mugs]) await receive(id)

  expect((await mail(/low|stock|run/i, STOCKROOM))?.text).toContain('POT')
  const low = await expectSuccess(admin.get('/api/inventory/low-stock'))
  expect(low.items).toMatchObject([{ sku: 'POT', available: 3, low_threshold: 3 }])
  await expectSuccess(admin.post(`/api/admin/orders/${unpaid.id}/cancel`, { reason: 'Bob called' }))
  await mail(/cancel/i, BOB)
  const lowAgain = async () => (await expectSuccess(admin.get('/api/inventory/low-stock'))).items
  await expect.poll(lowAgain, PATIENCE).toEqual([])
  return { pots, tins, mugs, unpaid, tin }
}

/** An order is put on hold, then sent in two parcels. One arrives; the mail template of the second one is changed. */
async function pack({ admin, ada, mail, mails }: Shop, packer: Shop['admin'], { id, number }: Order) {
  const path = `/api/admin/orders/${id}`
  await expectSuccess(packer.post(`${path}/transition`, { action: 'hold', reason: 'Is the address right?' }))
  expect((await packer.post(`${path}/shipments`, {})).status).toBe(409)
  await expectSuccess(packer.post(`${path}/transition`, { action: 'release' }))

  const { items } = await expectSuccess(packer.get(path))
  const [mugs, pot] = items.map((each: { id: number; quantity: number }) => each)
  const first = { carrier: 'ups', tracking_number: '1Z999AA10123456784' }
  const line = ({ id, quantity }: { id: number; quantity: number }) => ({ line: id, quantity })
  const sent = await expectSuccess(packer.post(`${path}/shipments`, { ...first, lines: [line(pot)] }))
  expect(sent).toMatchObject({ fulfillment_status: 'partial', status: 'paid' })
  const slip = `/api/admin/shipping/shipments/${sent.shipments[0].id}/packing-slip`
  expect(await expectSuccess(packer.get(`${slip}.json`))).toMatchObject({
    order_number: number,
    tracking_number: first.tracking_number,
    address: { name: 'Ada Lovelace' },
    lines: [{ sku: 'POT', quantity: 1 }]
  })
  expect((await packer.get(slip)).text).toContain('Drottninggatan 1')
  expect((await mail(/way|shipped|sent/i))?.text).toContain(first.tracking_number)

  const template = '/api/admin/notifications/templates/order_shipped/en'
  const { text, html } = await expectSuccess(admin.get(template))
  const subject = 'Off it goes: {{ order.number }}'
  await expectSuccess(admin.put(template, { subject, text, html }))
  const all = await expectSuccess(packer.post(`${path}/shipments`, { lines: [line(mugs)] }))
  expect(all).toMatchObject({ fulfillment_status: 'fulfilled', status: 'shipped' })
  await mail(new RegExp(`^Off it goes: ${number}$`))

  const delivered = { status: 'delivered', occurred_at: new Date().toISOString(), location: 'Stockholm' }
  await expectSuccess(packer.post(`/api/admin/shipping/shipments/${sent.shipments[0].id}/events`, delivered))
  await mail(/delivered|arrived/i)
  const { items: parcels } = await expectSuccess(ada.get(`/api/shipping/order/${id}`))
  const statuses = parcels.map((each: { status: string }) => each.status)
  expect(statuses.sort()).toEqual(['delivered', 'in_transit'])
  expect(mails.taken.filter(({ subject = '' }) => /off it goes/i.test(subject))).toHaveLength(1)
}

/** One tin is not delivered, and one mug comes back: what each has cost is paid back, and the stock is right. */
async function giveBack({ admin, mail, available }: Shop, { tins, mugs, tin }: Orders): Promise<void> {
  const read = (id: string) => expectSuccess(admin.get(`/api/admin/orders/${id}`))
  const lineOf = async (id: string, sku: string) =>
    (await read(id)).items.find((each: { sku: string }) => each.sku === sku).id
  const oneTin = [{ line: await lineOf(tins.id, 'TIN'), quantity: 1 }]
  await expectSuccess(admin.post(`/api/admin/orders/${tins.id}/cancel`, { lines: oneTin, reason: 'dented' }))
  await mail(/refund|back/i, EVE)
  await expect.poll(() => available(tin), PATIENCE).toBe(50 - 2)

  await expectSuccess(admin.post(`/api/admin/orders/${mugs.id}/shipments`, {}))
  const oneMug = [{ line: await lineOf(mugs.id, 'MUG'), quantity: 1 }]
  await expectSuccess(admin.post(`/api/admin/orders/${mugs.id}/returns`, { lines: oneMug }))
  await expectSuccess(
    admin.post(`/api/admin/orders/${mugs.id}/refunds`, { lines: oneMug, reason: 'too small' })
  )
  await mail(/refund|back/i, BOB)
  const adjusted = async ({ id }: Order) =>
    (await read(id)).adjustments.map(({ kind, amount, back }: Record<string, unknown>) => [
      kind,
      amount,
      back
    ])
  expect(await adjusted(tins)).toEqual([['cancel', 800, 800]])
  expect(await adjusted(mugs)).toEqual([['refund', 1_080, 1_080]])
  expect(await read(mugs.id)).toMatchObject({
    payment_status: 'partially_refunded',
    fulfillment_status: 'partially_returned'
  })
}

/** Of two reviews one is let in and answered, and one is not. */
async function moderate({ admin, anonymous, ada, bob }: Shop): Promise<void> {
  const path = '/api/products/mug/reviews'
  await expectSuccess(ada.post(path, { rating: 5, body: 'Keeps warm' }))
  await expectSuccess(bob.post(path, { rating: 1, body: 'Buy mine at bob.example' }))
  const { items } = await expectSuccess(admin.get('/api/catalog/reviews?status=pending'))
  const idOf = (rating: number) => items.find((each: { rating: number }) => each.rating === rating).id
  await expectSuccess(admin.post(`/api/catalog/reviews/${idOf(5)}/publish`))
  await expectSuccess(admin.put(`/api/catalog/reviews/${idOf(5)}/reply`, { body: 'So do we' }))
  await expectSuccess(admin.post(`/api/catalog/reviews/${idOf(1)}/reject`, { reason: 'an advertisement' }))
  const shown = async () => (await expectSuccess(anonymous.get(path))).items
  await expect.poll(shown, PATIENCE).toMatchObject([{ rating: 5, reply: { body: 'So do we' } }])
}

/** For a while shoppers look and change nothing; the administrator goes on. */
async function rest({ admin, ada, anonymous }: Shop): Promise<void> {
  const until = new Date(Date.now() + 3_600_000).toISOString()
  await expectSuccess(admin.put('/api/admin/maintenance', { enabled: true, message: 'We count.', until }))
  const empty = () => ada.delete('/api/cart')
  await expect.poll(async () => (await empty()).status, PATIENCE).toBe(503)
  const { headers, json } = await empty()
  expect(json).toMatchObject({ code: 'SHOP_IN_MAINTENANCE', message: 'We count.', until })
  expect(Number(headers['retry-after'])).toBeGreaterThan(0)
  expect((await anonymous.get('/api/products')).json.items).toHaveLength(3)
  const mug = await variantOf(admin, 'mug')
  await expectSuccess(
    admin.post('/api/inventory/adjustments', { variant_id: mug, delta: -1, reason: 'It fell' })
  )
  await expectSuccess(admin.put('/api/admin/maintenance', { enabled: false }))
  await expect.poll(async () => (await empty()).status, PATIENCE).toBe(200)
}

/** Bob is not wanted any more: his token is dead, and no new one is to be had. */
async function dismiss({ admin, bob, anonymous }: Shop): Promise<void> {
  await expectSuccess(bob.get('/api/cart'))
  const { items } = await expectSuccess(admin.get(`/api/admin/users?q=${BOB}`))
  await expectSuccess(admin.patch(`/api/admin/users/${items[0].id}`, { disabled: true }))
  await expect.poll(async () => (await bob.get('/api/cart')).status, PATIENCE).toBe(401)
  expect((await anonymous.post('/api/auth/login', { email: BOB, password: PASSWORD })).status).toBe(401)
}

/** What the dashboard says is what was sold, and the log of changes says who did what. */
async function close({ admin }: Shop, { pots }: Orders): Promise<void> {
  const dashboard = async () => expectSuccess(admin.get('/api/admin/dashboard'))
  const captured = 7_390 + 4_090 + 2_650
  const canceled = 800
  const refunded = canceled + 1_080
  await expect
    .poll(async () => (await dashboard()).revenue, PATIENCE)
    .toEqual([{ currency: 'USD', captured, refunded, net: captured - refunded }])
  expect(await dashboard()).toMatchObject({
    orders: {
      made: 4,
      placed: 3,
      canceled: 1,
      units: 3 + 3 + 2,
      totals: [{ currency: 'USD', orders: 3, total: captured - canceled }],
      top_products: [{ units: 5 }, { units: 2 }, { units: 1 }]
    },
    new_customers: 2,
    low_stock: { total: 0 },
    trouble: { dead_events: 0, quarantined_payments: 0 }
  })

  type Entry = { actor_email: string; method: string; route: string; status: number }
  const logged = async (query: string) =>
    (await expectSuccess(admin.get(`/api/admin/audit?limit=100${query}`))).items.map(
      ({ actor_email, method, route, status }: Entry) =>
        `${actor_email} ${method} ${route.split('/').at(-1)} ${status}`
    )
  const by = (who: string, ...what: string[]) => what.map(each => `${who} ${each}`)
  const sent = [
    ...by(PACKER.email, 'POST shipments 200', 'POST transition 200', 'POST shipments 409'),
    ...by(PACKER.email, 'POST transition 200')
  ]
  expect(await logged(`&id=${pots.id}`)).toEqual([
    ...[`${PACKER.email} POST shipments 200`, ...sent],
    ...by(ADMIN.email, 'POST capture 200')
  ])
  const all = await logged('')
  // What the packer tried all at once.
  const isRefused = (entry: string) => entry.endsWith(' 403')
  expect(all.filter(isRefused).sort()).toEqual(
    by(PACKER.email, 'PATCH :id 403', 'POST products 403', 'POST promotions 403', 'PUT maintenance 403')
  )
  // All the rest, the latest first.
  expect(all.filter((entry: string) => !isRefused(entry))).toEqual([
    ...by(ADMIN.email, 'PATCH :id 200', 'PUT maintenance 200', 'POST adjustments 201', 'PUT maintenance 200'),
    ...by(ADMIN.email, 'POST reject 200', 'PUT reply 200', 'POST publish 200'),
    ...by(ADMIN.email, 'POST refunds 200', 'POST returns 200', 'POST shipments 200', 'POST cancel 200'),
    ...by(PACKER.email, 'POST events 200', 'POST shipments 200'),
    ...by(ADMIN.email, 'PUT :locale 200'),
    ...sent,
    ...by(ADMIN.email, 'POST cancel 200', ...Array(3).fill('POST capture 200')),
    ...by(ADMIN.email, 'POST endpoints 201', 'PATCH :id 200', 'POST invitations 201'),
    ...by(ADMIN.email, 'POST codes 201', 'POST promotions 201', ...Array(3).fill('POST rates 201')),
    ...by(ADMIN.email, ...Array(3).fill('POST methods 201'), 'POST zones 201'),
    ...by(ADMIN.email, 'POST import 200', 'POST import 200')
  ])
}
