import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import type { RequestOptions, TestResponse } from '../../src/testing.ts'
import { itemOf, STOCKHOLM } from '../support/checkouts.ts'
import { TRANSFER } from '../support/orders.ts'
import { accessRowOf, type OwnedResource, type Route, routesOf } from './routes.ts'
import {
  createCustomer,
  createGuest,
  createShippingMethods,
  type ShopOfAllModules,
  useShopOfAllModules
} from './use-everything.ts'

/** A valid body of each request schema. A route with another schema fails until its body is added here. */
const BODIES: Readonly<Record<string, (id: string, variantId: string) => object>> = {
  CheckoutRequest: (_id, variantId) => ({ items: [itemOf(variantId)] }),
  GuestCheckoutRequest: (_id, variantId) => ({ items: [itemOf(variantId)] }),
  CompleteCheckoutRequest: () => ({ payment: TRANSFER }),
  TenderPreviewRequest: () => ({ tenders: [] }),
  PaymentIntentRequest: id => ({ order_id: id, ...TRANSFER }),
  UpdateLineRequest: () => ({ quantity: 2 }),
  UpdateAddressRequest: () => ({ address: STOCKHOLM }),
  ReviewRequest: () => ({ rating: 1 })
}

/** A shop with its routes and two products. */
async function useRoutes() {
  const shop = await useShopOfAllModules()
  const routes = await routesOf(shop)
  await createShippingMethods(shop)
  const [product, unreviewed] = [await shop.sell(), await shop.sell()]
  const mug: string = product.variants[0].id
  return {
    ...shop,
    product,
    unreviewed,
    mug,
    owned: routes.flatMap(route => {
      const row = accessRowOf(route)
      return row.of === 'owner' ? [{ ...route, thing: row.thing }] : []
    }),
    own: routes.filter(route => route.method === 'GET' && accessRowOf(route).of === 'self'),
    asCustomer: () => createCustomer(shop, product),
    asGuest: () => createGuest(shop, mug),
    ask: ({ name, method, path, body }: Route, id: string, options: RequestOptions) => {
      const bodyOf = BODIES[body]
      if (body !== '' && bodyOf === undefined) throw new Error(`${name}: add a valid body to BODIES`)
      const url = path.replace(/\{\w+\}/g, id)
      return shop.request(method, url, { ...options, ...(bodyOf && { body: bodyOf(id, mug) }) })
    }
  }
}

/** A response without its request id, and the statements that were sent for it. */
async function responseAndStatements({ record }: ShopOfAllModules, work: () => Promise<TestResponse>) {
  const { result, statements } = await record(work)
  const { status, json, headers } = result
  const { request_id: _, ...body } = json
  return { status, body, headers: Object.keys(headers).sort(), statements }
}

test('every route responds to an id of another caller as to an unknown id, with the same statements', async () => {
  const shop = await useRoutes()
  expect(shop.owned.length).toBeGreaterThan(25)
  const [ada, guest] = [await shop.register(), await shop.asGuest()]
  const victims = [await shop.asCustomer(), await shop.asGuest()]
  /** Unknown ids. For reviews, a product without reviews. */
  const noneOf = (thing: OwnedResource) => (thing === 'review' ? shop.unreviewed.id : newId())
  const before = await shop.stored()
  for (const route of shop.owned) {
    // A claim of a guest's order is sent with the token of another order.
    const { headers } = guest.options
    const callers: RequestOptions[] =
      route.tier === 'secured' ? [{ token: ada.token, headers }] : [{ headers }, {}]
    for (const options of callers) {
      // The first request fills the caches, so that both measured requests send the same statements.
      await shop.ask(route, noneOf(route.thing), options)
      const absent = await responseAndStatements(shop, () => shop.ask(route, noneOf(route.thing), options))
      expect(absent.status, `${route.name}: ${JSON.stringify(absent.body)}`).toBe(404)
      for (const { of } of victims) {
        const id = (of as Partial<Record<OwnedResource, string>>)[route.thing]
        if (id !== undefined)
          expect(await responseAndStatements(shop, () => shop.ask(route, id, options)), route.name).toEqual(
            absent
          )
      }
    }
  }
  expect(await shop.stored()).toEqual(before)
})

test('in the test of foreign ids, each route accepts the id of its owner', async () => {
  const shop = await useRoutes()
  // Reads come first, so that the owner still has every resource.
  const readers = { customer: await shop.asCustomer(), guest: await shop.asGuest() }
  for (const route of shop.owned) {
    const isClaim = route.path.endsWith('/claim')
    const isCustomers = route.tier === 'secured' && !isClaim
    const owner =
      route.method === 'GET'
        ? readers[isCustomers ? 'customer' : 'guest']
        : await (isCustomers ? shop.asCustomer() : shop.asGuest())
    const options = { ...(isClaim && { token: (await shop.register()).token }), ...owner.options }
    const id = (owner.of as Partial<Record<OwnedResource, string>>)[route.thing] ?? ''
    const { status, text } = await shop.ask(route, id, options)
    expect([200, 201, 202, 204, 409], `${route.name}: ${status} ${text}`).toContain(status)
  }
})

test('responses about the caller contain no data of another customer', async () => {
  const shop = await useRoutes()
  expect(shop.own.length).toBeGreaterThan(8)
  const [ada, eve, guest] = [await shop.asCustomer(), await shop.asCustomer(), await shop.asGuest()]
  const { review: _, ...things } = eve.of
  for (const { path, name } of shop.own) {
    // Two of everything that is listed would be on one page.
    const { status, text, json } = await shop.request('GET', path, ada.options)
    expect(status, name).toBe(200)
    if (Array.isArray(json.items) && !path.includes('notifications'))
      expect(json.items, name).not.toHaveLength(0)
    const strange = [eve.id, eve.email, ...Object.values(things), ...Object.values(guest.of)]
    for (const word of strange) expect(text, name).not.toContain(word)
  }
})
