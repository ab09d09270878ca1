import { afterAll, beforeAll, expect, test } from 'vitest'
import { createTestApp, type TestApp } from './support/app.ts'

const ADMIN = { email: 'boss@example.com', password: 'nine lives and a piano' }

let app: TestApp
let admin: string
beforeAll(async () => {
  app = await createTestApp({
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  })
  admin = (await app.request('POST', '/api/auth/login', { body: ADMIN })).json.access_token
})
afterAll(() => app.close())

async function createProduct(name: string, slug: string) {
  const body = { name, slug, variants: [{ sku: slug, price: 100 }] }
  const { status, json, text } = await app.request('POST', '/api/catalog/products', { token: admin, body })
  expect(status, text).toBe(201)
  return { path: `products/${json.id}`, variantId: json.variants[0].id }
}
const catalog = (method: string, path: string, body?: unknown) =>
  app.request(method, `/api/catalog/${path}`, { token: admin, body })

test("cart lines have the product's slug, and the last name of a product that is no longer for sale", async () => {
  const mug = await createProduct('Mug', 'mug')
  const cup = await createProduct('Cup', 'cup')
  const jug = await createProduct('Jug', 'jug')
  const { json: guest } = await app.request('POST', '/api/guest-cart', {
    body: { variant_id: mug.variantId, quantity: 1 }
  })
  const headers = { 'x-guest-cart-token': guest.guest_cart_token as string }
  for (const { variantId } of [cup, jug])
    await app.request('POST', '/api/guest-cart', { headers, body: { variant_id: variantId, quantity: 1 } })
  await app.request('POST', '/api/cart/merge', {
    token: admin,
    body: { items: [mug, cup, jug].map(({ variantId }) => ({ variant_id: variantId, quantity: 1 })) }
  })

  expect((await catalog('PATCH', mug.path, { name: 'Blue mug', status: 'archived' })).status).toBe(200)
  expect((await catalog('DELETE', cup.path)).status).toBe(204)
  expect((await catalog('PATCH', jug.path, { slug: 'big-jug' })).status).toBe(200)
  const guestCart = () => app.request('GET', '/api/guest-cart', { headers })
  const customerCart = () => app.request('GET', '/api/cart', { token: admin })
  const expectCart = (read: typeof guestCart, slugs: string[], unavailable: Record<string, string>) =>
    // Until the change of the catalog has been announced.
    expect
      .poll(async () => {
        const { items, unavailable_items } = (await read()).json
        const named = unavailable_items.map((item: Record<string, string>) => [item.variant_id, item.name])
        return [items.map((item: { slug: string }) => item.slug), Object.fromEntries(named)]
      })
      .toEqual([slugs, unavailable])
  const gone = { [mug.variantId]: 'Blue mug', [cup.variantId]: 'Cup' }
  for (const read of [guestCart, customerCart]) await expectCart(read, ['big-jug'], gone)

  expect((await catalog('DELETE', `variants/${jug.variantId}`)).status).toBe(204)
  for (const read of [guestCart, customerCart])
    await expectCart(read, [], { ...gone, [jug.variantId]: 'Jug' })
})
