import { expect, test } from 'vitest'
import {
  assistedBuyerOfRequest,
  type Buyer,
  customerBuyerOfRequest,
  defineJob,
  defineModule,
  guestBuyerOfRequest,
  newWrite,
  type OrdersApi,
  ordersModule,
  wire,
  writeOf,
  writeOfJob
} from '../../src/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { customer } from '../../src/testing.ts'
import { CHECKOUT_MODULES, itemOf, STOCKHOLM } from '../support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../support/orders.ts'
import { openShared, shareShops } from '../support/shared-shops.ts'

shareShops()

const renew = defineJob(
  'renewals.renew',
  { description: 'Orders a variant again for a customer.', timeoutSeconds: 30 },
  { customer_id: wire.Id, variant_id: wire.Id }
)

type Attempt = { readonly orderId: string; readonly isNew: boolean }

/** A module that only this test knows. It orders for customers, guests and administrators. */
const renewals = (attempts: Attempt[]) =>
  defineModule({
    name: 'renewals',
    description: 'Orders again.',
    basePaths: ['/api/renewals'],
    requires: { orders: ordersModule },
    uses: {},
    jobs: [renew],
    setup: async ({ db, enqueue }, _settings, { orders }) => ({
      api: {
        orders,
        enqueue: (customer_id: string, variant_id: string) =>
          db.transaction(async tx => enqueue(tx, renew, { customer_id, variant_id }))
      },
      jobHandlers: {
        'renewals.renew': async job => {
          const { customer_id: customerId, variant_id } = job.payload
          const buyer = { kind: 'customer', customerId } as const
          const request = { items: [itemOf(variant_id)], shipping_address: STOCKHOLM }
          const { checkout } = await orders.checkouts.begin(buyer, request, writeOfJob(job, 'checkout'))
          const payment = { payment: TRANSFER }
          const write = writeOfJob(job, 'order')
          const { order, isNew } = await orders.checkouts.complete(buyer, checkout.id, payment, write)
          attempts.push({ orderId: order.id, isNew })
          if (attempts.length === 1) throw new Error('the process died after the commit')
        }
      },
      routes: tiers => {
        const body = wire.input({ variant_id: wire.Id })
        const config = { class: 'checkout', unversioned: true } as const
        tiers.secured.post('/renewals', { config, schema: { summary: 'Renew', body } }, async request => {
          const wanted = sent(request.body.variant_id)
          return (await orders.orders.place(customerBuyerOfRequest(request), wanted, writeOf(request))).order
        })
        tiers.public.post(
          '/renewals/guest',
          { config, schema: { summary: 'Renew', body } },
          async request => {
            const wanted = { ...sent(request.body.variant_id), email: 'ada@example.com' }
            return orders.orders.place(guestBuyerOfRequest(request), wanted, writeOf(request))
          }
        )
        tiers.admin.post(
          '/renewals/:id',
          { config, schema: { summary: 'Renew', body, params: wire.IdParams } },
          request =>
            orders.orders.place(
              assistedBuyerOfRequest(request, request.params.id),
              sent(request.body.variant_id),
              writeOf(request)
            )
        )
      }
    })
  })

/** The module, and the attempts of its jobs in the test that runs. */
const useModule = () =>
  openShared(['renewals'], async () => {
    const attempts: Attempt[] = []
    return { attempts, module: renewals(attempts) }
  })

async function useRenewals(settings: Readonly<Record<string, string>> = {}) {
  const { attempts, module } = await useModule()
  attempts.length = 0
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, module], settings })
  const api = shop.apiOf(module)
  if (api === undefined) throw new Error('the module is disabled')
  // No other test buys this mug.
  const orderIds = 'select order_id from orders.lines where variant_id = $1'
  const orders = () =>
    shop.sql(`select * from orders.orders where id in (${orderIds}) order by id`, [shop.mug])
  const payments = () => shop.sql(`select from payments.payments where order_id in (${orderIds})`, [shop.mug])
  const checkouts = () =>
    shop.sql(`select from orders.checkouts where strpos(input::text, $1) > 0`, [shop.mug])
  return { ...shop, orders, payments, checkouts, attempts, renewals: api, commands: api.orders as OrdersApi }
}

const customerBuyer = (customerId: string) => ({ kind: 'customer', customerId }) as const

test('a module begins a checkout for a customer, completes it, reads and lists the order', async () => {
  const { commands, mug, as } = await useRenewals()
  const caller = customer()
  const ada = customerBuyer(caller.id)
  const { checkout, checkoutToken } = await commands.checkouts.begin(ada, sent(mug), newWrite())
  expect([checkout.ready, checkout.total, checkoutToken]).toEqual([true, 1_490, null])
  const { order, isNew, orderToken } = await commands.checkouts.complete(ada, checkout.id, {}, newWrite())
  expect([isNew, order.total, order.customer_id, orderToken]).toEqual([true, 1_490, caller.id, null])
  expect(await commands.orders.read(ada, order.id)).toEqual(order)
  expect((await commands.orders.list(ada, { count: true })).items.map(({ id }) => id)).toEqual([order.id])
  // The customer gets the same order over HTTP.
  expect((await as(caller).get(`/api/orders/${order.id}`)).json).toEqual(JSON.parse(JSON.stringify(order)))
})

test('a module places an order for a guest, who can access it with its token', async () => {
  const { commands, mug, anonymous } = await useRenewals()
  const guest = { kind: 'guest', clientNetwork: '192.0.2.1' } as const
  const request = { ...sent(mug), email: 'ada@example.com' }
  const begun = await commands.checkouts.begin(guest, request, newWrite())
  const token = begun.checkoutToken ?? ''
  const complete = (buyer: Buyer) => commands.checkouts.complete(buyer, begun.checkout.id, {}, newWrite())
  await expect(complete(guest)).rejects.toMatchObject({ code: 'CHECKOUT_NOT_FOUND' })
  await expect(complete({ ...guest, token: `${token}x` })).rejects.toMatchObject({
    code: 'CHECKOUT_NOT_FOUND'
  })
  const { order, orderToken } = await complete({ ...guest, token })
  const headers = { 'x-order-token': orderToken ?? '' }
  expect((await anonymous.get(`/api/orders/guest/${order.id}`, undefined, headers)).status).toBe(200)
  await expect(commands.orders.read({ ...guest, token }, order.id)).rejects.toMatchObject({
    code: 'ORDER_NOT_FOUND'
  })
})

test('a module that acts for one customer can access no checkout and no order of another buyer', async () => {
  const { commands, mug } = await useRenewals()
  const [ada, bob] = [customerBuyer(newId()), customerBuyer(newId())]
  const { checkout } = await commands.checkouts.begin(ada, sent(mug), newWrite())
  const { order } = await commands.orders.place(ada, sent(mug), newWrite())
  const refused = [
    () => commands.checkouts.read(bob, checkout.id, newWrite()),
    () => commands.checkouts.update(bob, checkout.id, sent(mug), newWrite()),
    () => commands.checkouts.cancel(bob, checkout.id, newWrite()),
    () => commands.checkouts.complete(bob, checkout.id, {}, newWrite()),
    () => commands.checkouts.read({ kind: 'guest', token: '' }, checkout.id, newWrite())
  ]
  for (const call of refused) await expect(call()).rejects.toMatchObject({ code: 'CHECKOUT_NOT_FOUND' })
  for (const buyer of [bob, { kind: 'guest', token: '' }] as const)
    await expect(commands.orders.read(buyer, order.id)).rejects.toMatchObject({ code: 'ORDER_NOT_FOUND' })
  expect((await commands.orders.list(bob, { count: true })).total).toBe(0)
})

test("a module's job that is retried after its order was committed orders once", async () => {
  const { renewals: api, mug, attempts, orders, checkouts, payments } = await useRenewals()
  const { id } = customer()
  await api.enqueue(id, mug)
  await expect.poll(() => attempts.length, { timeout: 60_000 }).toBe(2)
  const [first, second] = attempts
  expect([first?.isNew, second?.orderId]).toEqual([true, first?.orderId])
  expect((await orders()).map(order => [order.id, order.customer_id])).toEqual([[first?.orderId, id]])
  expect(await checkouts()).toHaveLength(1)
  expect(await payments()).toHaveLength(1)
})

test('simultaneous attempts of one write by a module make one order and one checkout', async () => {
  const { commands, mug, orders, stock, reserved, checkouts } = await useRenewals()
  await stock(mug, 10)
  const ada = customerBuyer(newId())
  const job = { id: newId() }
  const attempts = <T>(call: () => Promise<T>) => Promise.all([1, 2, 3, 4].map(call))
  const placed = await attempts(() => commands.orders.place(ada, sent(mug), writeOfJob(job, 'order')))
  expect(new Set(placed.map(({ order }) => order.id)).size).toBe(1)
  expect(await orders()).toHaveLength(1)
  expect(await reserved(mug)).toMatchObject([{ order_id: placed[0]?.order.id, quantity: 1 }])
  const begun = await attempts(() => commands.checkouts.begin(ada, sent(mug), writeOfJob(job, 'checkout')))
  expect(new Set(begun.map(({ checkout }) => checkout.id)).size).toBe(1)
  expect(await checkouts()).toHaveLength(1)
})

test("a module's repeated write returns its own order, even with the cart empty or the order canceled by then", async () => {
  const { commands, mug, withCart, as } = await useRenewals()
  const caller = await withCart(itemOf(mug, 2))
  const job = { id: newId() }
  const place = () =>
    commands.orders.place(customerBuyer(caller.id), { shipping_address: STOCKHOLM }, writeOfJob(job, 'order'))
  const { order } = await place()
  expect((await place()).order.id).toBe(order.id)
  expect((await as(caller).post(`/api/orders/${order.id}/cancel`)).status).toBe(200)
  expect((await place()).order).toMatchObject({ id: order.id, status: 'canceled' })
})

test('a module without the network of a buyer is held to the limits of the buyer, and claims no confirmed stock', async () => {
  const settings = { CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1' }
  const { commands, mug, stock, sql } = await useRenewals(settings)
  await stock(mug, 10)
  const ada = customerBuyer(newId())
  const staff = { kind: 'assisted', customerId: newId(), actorId: newId() } as const
  const { order } = await commands.orders.place(ada, sent(mug), newWrite())
  const assisted = await commands.orders.place(staff, sent(mug), newWrite())
  const limited = { code: 'ORDER_PENDING_LIMIT', details: { limit: 1 } }
  await expect(commands.orders.place(ada, sent(mug), newWrite())).rejects.toMatchObject(limited)
  const states = await sql("select owner, state from inventory.reservations where state <> 'closed'")
  const stateOf = new Map(states.map(({ owner, state }) => [owner, state]))
  expect([stateOf.get(order.id), stateOf.get(assisted.order.id)]).toEqual(['claimed', 'confirmed'])
  const actors = await sql('select order_id, actor from orders.history')
  expect(new Map(actors.map(row => [row.order_id, row.actor]))).toEqual(
    new Map([
      [order.id, ada.customerId],
      [assisted.order.id, staff.actorId]
    ])
  )
})

test('an invalid order request of a module is rejected with its fields before anything is read', async () => {
  const { commands, mug, record } = await useRenewals()
  const { result, statements } = await record(() =>
    commands.orders
      .place(customerBuyer(newId()), { items: [itemOf(mug, -1)] }, newWrite())
      .catch(error => error)
  )
  expect(result).toMatchObject({
    code: 'ORDER_REQUEST_INVALID',
    details: { errors: [{ path: 'body/items/0/quantity' }] }
  })
  expect(statements.filter(name => !name.startsWith('orders.find'))).toEqual([])
})

test("a module's routes order for the customer, guest or administrator who sends the request", async () => {
  const { as, anonymous, admin, mug, orders } = await useRenewals()
  const [ada, bob] = [customer(), customer()]
  const body = { variant_id: mug }
  const key = { 'idempotency-key': crypto.randomUUID() }
  const [first, again] = [
    await as(ada).post('/api/renewals', body, key),
    await as(ada).post('/api/renewals', body, key)
  ]
  expect([first.status, again.json.id], first.text).toEqual([200, first.json.id])
  const guest = await anonymous.post('/api/renewals/guest', body)
  expect(guest.json.orderToken, guest.text).toMatch(/^ort_/)
  const assisted = await admin.post(`/api/renewals/${bob.id}`, body)
  expect(assisted.status, assisted.text).toBe(200)
  expect((await orders()).map(order => order.customer_id)).toEqual([ada.id, null, bob.id])
})
