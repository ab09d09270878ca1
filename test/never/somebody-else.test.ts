import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { customer, type RequestOptions, type TestResponse } from '../../src/testing.ts'
import { itemOf } from '../support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../support/orders.ts'

/** What belongs to somebody lies below these. */
const OWNED = /^\/api\/(orders|checkouts|payments|shipping|shipments|refunds|returns)(\/|$)/
const NAMES_ONE = /^(order|checkout|payment|shipment|refund|return)_id$/
/** What these have in their path is nobody's. */
const NOBODYS = ['post /api/payments/callback/{provider}', 'get /api/shipping/track/{tracking_number}']
/** A body that the route would do its work with. One with a body that is not here has to say what that is. */
const BODIES: Readonly<Record<string, (id: string, variantId: string) => object>> = {
  CheckoutRequest: (_id, variantId) => ({ items: [itemOf(variantId)] }),
  GuestCheckoutRequest: (_id, variantId) => ({ items: [itemOf(variantId)] }),
  CompleteCheckoutRequest: () => ({ payment: TRANSFER }),
  PaymentIntentRequest: id => ({ order_id: id, ...TRANSFER })
}

type Schema = { $ref?: string; properties?: Record<string, object> }
type Operation = {
  security?: object[]
  parameters?: { in: string; name: string }[]
  requestBody?: { content: { 'application/json'?: { schema: Schema } } }
}
type Route = {
  name: string
  method: string
  path: string
  isCustomers: boolean
  body: string
  isList: boolean
}
type Owner = { order: string; checkout: string; options: RequestOptions }

/** A shop with its routes, and whoever buys in it. */
async function useRoutes() {
  const shop = await useOrders()
  const { paths, components } = (await shop.anybody.get('/openapi.json')).json as {
    paths: Record<string, Record<string, Operation>>
    components: { schemas: Record<string, Schema> }
  }
  const routes = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, { security = [], parameters = [], requestBody }]) => {
      const schema = requestBody?.content['application/json']?.schema
      const body = schema?.$ref?.split('/').at(-1) ?? ''
      const names = Object.keys(components.schemas[body]?.properties ?? schema?.properties ?? {})
      const isOfOne = path.includes('{') || names.some(name => NAMES_ONE.test(name))
      return {
        ...{ name: `${method} ${path}`, method: method.toUpperCase(), path, body, isOfOne },
        isCustomers: security.length > 0,
        isList: parameters.some(({ name }) => name === 'cursor')
      }
    })
  )
  const ownedOnes = routes.filter(({ name, path }) => OWNED.test(path) && !NOBODYS.includes(name))

  const asCustomer = async (): Promise<Owner> => {
    const { token } = customer()
    const buyer = shop.as({ token })
    const { json: order } = await buyer.post('/api/orders', { ...sent(shop.mug), payment: TRANSFER })
    const { json: checkout } = await buyer.post('/api/checkouts', sent(shop.mug))
    return { order: order.id, checkout: checkout.id, options: { token } }
  }
  const asGuest = async (): Promise<Owner> => {
    const body = { ...sent(shop.mug), email: `${newId()}@example.com` }
    const { json: order } = await shop.anybody.post('/api/orders/guest', { ...body, payment: TRANSFER })
    const { json: checkout } = await shop.anybody.post('/api/checkouts/guest', body)
    const headers = { 'x-order-token': order.order_token, 'x-checkout-token': checkout.checkout_token }
    return { order: order.id, checkout: checkout.id, options: { headers } }
  }
  return {
    ...shop,
    owned: ownedOnes.filter(({ isOfOne }) => isOfOne),
    lists: ownedOnes.filter(({ isOfOne, isList }) => isList && !isOfOne),
    ofAdministrators: routes.filter(({ path }) => path.startsWith('/api/admin/') && path.includes('{')),
    ...{ asCustomer, asGuest },
    ask: (
      { name, method, path, body }: Omit<Route, 'isCustomers' | 'isList'>,
      id: string,
      options: RequestOptions
    ) => {
      const bodyOf = BODIES[body]
      if (body !== '' && bodyOf === undefined) throw new Error(`${name}: say in BODIES what it takes`)
      const url = path.replace(/\{\w+\}/g, id)
      return shop.request(method, url, { ...options, ...(bodyOf && { body: bodyOf(id, shop.mug) }) })
    },
    stored: async () =>
      Promise.all(
        [
          'orders.orders',
          'orders.history',
          'orders.checkouts',
          'payments.accounts',
          'payments.payments',
          'shipping.shipments'
        ].map(table => shop.sql(`select * from ${table} as rows order by rows::text`))
      )
  }
}
type Shop = Awaited<ReturnType<typeof useRoutes>>

const idFor = ({ path }: Pick<Route, 'path'>, owner: Owner) =>
  path.startsWith('/api/checkouts') ? owner.checkout : owner.order

/** All that an answer tells, and all that was asked of the database for it. */
async function toldBy({ statements }: Shop, work: () => Promise<TestResponse>) {
  statements.length = 0
  const { status, json, headers } = await work()
  const { request_id: _, ...body } = json
  return { status, body, headers: Object.keys(headers).sort(), statements: [...statements] }
}

test('each id, in each route, tried as somebody else, is answered as one that there is not, by the same work', async () => {
  const shop = await useRoutes()
  expect(shop.owned.length).toBeGreaterThan(15)
  const [ada, guest] = [await shop.asCustomer(), await shop.asGuest()]
  const victims = [await shop.asCustomer(), await shop.asGuest()]
  const before = await shop.stored()
  for (const route of shop.owned) {
    // Who claims a guest's order shows a token of another one.
    const headers = guest.options.headers as Record<string, string>
    const callers: RequestOptions[] = route.isCustomers ? [{ ...ada.options, headers }] : [{ headers }, {}]
    for (const options of callers) {
      // What is kept is read before.
      await shop.ask(route, newId(), options)
      const absent = await toldBy(shop, () => shop.ask(route, newId(), options))
      expect(absent.status, `${route.name}: ${JSON.stringify(absent.body)}`).toBe(404)
      for (const victim of victims)
        expect(await toldBy(shop, () => shop.ask(route, idFor(route, victim), options)), route.name).toEqual(
          absent
        )
    }
  }
  expect(await shop.stored()).toEqual(before)
})

test('whoever it belongs to is let in by each of these routes', async () => {
  const shop = await useRoutes()
  for (const route of shop.owned) {
    const isClaim = route.path.endsWith('/claim')
    const owner = route.isCustomers && !isClaim ? await shop.asCustomer() : await shop.asGuest()
    const options = { ...(isClaim && customer()), ...owner.options }
    const { status, text } = await shop.ask(route, idFor(route, owner), options)
    expect([200, 201, 202, 204, 409], `${route.name}: ${status} ${text}`).toContain(status)
  }
})

test('no list has anything of somebody else', async () => {
  const shop = await useRoutes()
  expect(shop.lists.length).toBeGreaterThan(1)
  const [ada, ...others] = [await shop.asCustomer(), await shop.asCustomer(), await shop.asGuest()]
  for (const { path, name } of shop.lists) {
    const { status, text } = await shop.request('GET', `${path}?count=true`, ada?.options)
    expect(status, name).toBe(200)
    expect(text, name).toContain(ada?.order)
    for (const { order } of others) expect(text, name).not.toContain(order)
  }
})

test('a customer learns of no route of administrators whether there is what it is about', async () => {
  const shop = await useRoutes()
  const ada = await shop.asCustomer()
  for (const { method, path, name } of shop.ofAdministrators) {
    const ask = (id: string) =>
      toldBy(shop, () => shop.request(method, path.replace(/\{\w+\}/g, id), { ...ada.options, body: {} }))
    const absent = await ask(newId())
    expect(absent.status, name).toBe(403)
    expect(await ask(ada.order), name).toEqual(absent)
  }
})
