import type { TestApp } from './app.ts'
import { STOCKHOLM, usePost } from './checkouts.ts'
import { insertVariants } from './many-variants.ts'

/** As many as an order, a checkout and a cart may have. */
const LINES = 200

/** A request: `operation` is its method and its path in the API document. */
export type Case = {
  readonly operation: string
  readonly name: string
  readonly url: string
  readonly headers?: Record<string, string>
  readonly body?: string
}
type Credentials = { email: string; password: string }

/** A shop with variants, and requests of one customer and of guests that are as large as they may be and are served. */
export async function realCases(app: TestApp, { token, admin }: { token: string; admin: Credentials }) {
  const ids = await insertVariants(app.databaseUrl, 2 * LINES)
  const boss = (await app.request('POST', '/api/auth/login', { body: admin })).json.access_token as string
  await usePost(async (path, body) => {
    return (await app.request('POST', `/api/admin/${path}`, { token: boss, body })).json
  })
  const made = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const { status, json, text } = await app.request('POST', path, { token, body, headers })
    if (status !== 201) throw new Error(text)
    return json
  }
  const items = ids.slice(0, LINES).map(variant_id => ({ variant_id, quantity: 1 }))
  const address = { ...STOCKHOLM, line1: 'x'.repeat(100), line2: 'x'.repeat(100), city: 'x'.repeat(90) }
  const said = {
    items,
    email: 'ada@example.com',
    note: 'x'.repeat(2_000),
    shipping_address: address,
    billing_address: address
  }
  const codes = Array.from({ length: 10 }, (_, index) => `CODE-${index}`)
  const ordered = { ...said, payment: { provider: 'manual', method: 'bank_transfer' } }
  const checkout = await made('/api/checkouts', said)
  const ofGuest = await made('/api/checkouts/guest', said)
  const order = await made('/api/orders', ordered)
  const guestOrder = await made('/api/orders/guest', ordered)
  const canceled = await made('/api/orders/guest', ordered)
  const forCheckout = { 'x-checkout-token': ofGuest.checkout_token }
  const forOrder = { 'x-order-token': guestOrder.order_token }

  const cases: Case[] = []
  const add = (
    operation: string,
    name: string,
    { id = '', query = '', headers = {}, body }: Partial<Sent> = {}
  ) => {
    const url = operation.replace(/^\w+ /, '').replace(/\{\w+\}/, id) + query
    cases.push({ operation, name, url, headers, ...(body && { body: JSON.stringify(body) }) })
  }
  const large = `${LINES} lines`
  add('POST /api/cart', 'a cart', { body: { variant_id: ids.at(-1), quantity: 1 } })
  add('POST /api/cart/merge', large, { body: { items } })
  add('GET /api/cart', large)
  add('PUT /api/cart/items/{variantId}', large, { id: ids[0] ?? '', body: { quantity: 3 } })
  add('POST /api/shipping/rates', large, { body: { items, destination: { country: 'SE' } } })
  add('POST /api/checkouts', large, { body: { ...said, codes } })
  add('PUT /api/checkouts/{id}', large, { id: checkout.id, body: { ...said, codes } })
  add('PUT /api/checkouts/{id}', `${large}, of the cart`, {
    id: checkout.id,
    body: { ...said, items: undefined, cart: true }
  })
  add('GET /api/checkouts/{id}', large, { id: checkout.id })
  add('POST /api/checkouts/guest', large, { body: { ...said, codes } })
  add('PUT /api/checkouts/guest/{id}', large, {
    id: ofGuest.id,
    headers: forCheckout,
    body: { ...said, codes }
  })
  add('GET /api/checkouts/guest/{id}', large, { id: ofGuest.id, headers: forCheckout })
  add('POST /api/orders', large, { body: ordered })
  add('POST /api/orders', `${large}, codes`, { body: { ...ordered, codes } })
  add('POST /api/orders/guest', large, { body: ordered })
  add('GET /api/orders', 'a page', { query: '?limit=100' })
  add('GET /api/orders/{id}', large, { id: order.id })
  add('GET /api/orders/guest/{id}', large, { id: guestOrder.id, headers: forOrder })
  add('GET /api/shipping/order/{order_id}', large, { id: order.id })
  add('GET /api/payments', 'a page', { query: '?limit=100' })
  add('GET /api/products', 'a page', { query: '?limit=100' })
  add('GET /api/products', 'a search', { query: `?limit=100&q=${'product%20'.repeat(10)}` })
  add('GET /api/inventory/availability', 'many', { query: `?variant_ids=${ids.slice(0, 100).join(',')}` })
  add('POST /api/checkouts/{id}/tenders', large, { id: checkout.id, body: { tenders: [] } })
  add('POST /api/checkouts/guest/{id}/tenders', large, {
    id: ofGuest.id,
    headers: forCheckout,
    body: { tenders: [] }
  })
  add('POST /api/checkouts/{id}/complete', large, { id: checkout.id, body: { payment: ordered.payment } })
  add('POST /api/checkouts/guest/{id}/complete', large, {
    id: ofGuest.id,
    headers: forCheckout,
    body: { payment: ordered.payment }
  })
  add('POST /api/checkouts/{id}/cancel', large, { id: (await made('/api/checkouts', said)).id })
  add('POST /api/orders/{id}/cancel', large, { id: order.id, body: {} })
  add('POST /api/orders/guest/{id}/cancel', large, {
    id: canceled.id,
    headers: { 'x-order-token': canceled.order_token }
  })
  add('POST /api/orders/{id}/claim', large, { id: guestOrder.id, headers: forOrder })
  return { ids, cases }
}
type Sent = { id: string; query: string; headers: Record<string, string>; body: object }
