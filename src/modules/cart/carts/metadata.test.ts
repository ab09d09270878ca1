import { describe, expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { type CartShop, useCartShop } from '../../../../test/support/use-cart-shop.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const many = (count: number, length = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, 'é'.repeat(length)]))

async function useCart(kind: 'customer' | 'guest') {
  const shop = await useCartShop()
  const mug = shop.catalog.sell()
  const token = newId()
  const url = kind === 'guest' ? '/api/guest-cart' : '/api/cart'
  const first = await shop.request('POST', url, { token, body: { variant_id: mug, quantity: 2 } })
  const headers = { 'x-guest-cart-token': first.json.guest_cart_token as string }
  const caller = kind === 'guest' ? { headers } : { token }
  return {
    shop,
    mug,
    token,
    guestToken: headers['x-guest-cart-token'],
    read: async () => (await shop.request('GET', url, caller)).json,
    send: (method: 'POST' | 'PATCH' | 'DELETE', body?: object) =>
      shop.request(method, url, { ...caller, body }),
    patch: (metadata: object) => shop.request('PATCH', url, { ...caller, body: { metadata } })
  }
}
const expire = (shop: CartShop) => shop.sql(`update cart.carts set expires_at = now() - interval '1 second'`)

describe.each(['customer', 'guest'] as const)('the metadata of the cart of a %s', kind => {
  test('the metadata of a cart is set, changed and deleted key by key, and kept when lines change', async () => {
    const { patch, read, send, mug } = await useCart(kind)
    expect((await read()).metadata).toEqual({})
    const set = await patch({ gift_note: 'For Ada', 'wrap it': 'yes' })
    expect([set.status, set.json.version, set.headers.etag]).toEqual([200, 2, '"2"'])
    expect(set.json).toMatchObject({ count: 2, metadata: { gift_note: 'For Ada', 'wrap it': 'yes' } })
    const changed = await patch({ gift_note: null, source: 'app', 'wrap it': '', unknown: null })
    expect(changed.json.metadata).toEqual({ source: 'app' })
    expect((await send('POST', { variant_id: mug, quantity: 1 })).json.metadata).toEqual({ source: 'app' })
    expect((await send('DELETE')).json).toMatchObject({ items: [], metadata: { source: 'app' } })
    const { metadata, version } = await read()
    expect([metadata, version]).toEqual([{ source: 'app' }, 5])
    expect((await send('PATCH', {})).json.version).toBe(5)
  })

  test('the metadata of a cart is limited to 50 keys and 16 kB, and a rejected change changes nothing', async () => {
    const { patch, read } = await useCart(kind)
    const full = await patch(many(50))
    expect(full.status).toBe(200)
    for (const wrong of [{ another: 'x' }, many(30, 500)]) {
      const { status, json } = await patch(wrong)
      expect([status, json.code]).toEqual([400, 'METADATA_LIMIT'])
    }
    for (const wrong of [
      many(51),
      { long: 'x'.repeat(501) },
      { ['x'.repeat(41)]: '' },
      { 'a[b]': 'x' },
      { n: 1 }
    ]) {
      const { status, json } = await patch(wrong)
      expect([status, json.code], JSON.stringify(wrong)).toEqual([400, 'VALIDATION_FAILED'])
    }
    expect((await read()).metadata).toEqual(full.json.metadata)
    expect((await patch({ ['é'.repeat(40)]: 'x'.repeat(500), 'key 0': null })).status).toBe(200)
  })

  test('the metadata of a cart expires with the cart', async () => {
    const { shop, patch, send, mug } = await useCart(kind)
    await patch({ gift_note: 'For Ada' })
    await expire(shop)
    if (kind === 'guest') return
    expect((await send('POST', { variant_id: mug, quantity: 1 })).json.metadata).toEqual({})
  })
})

test('an expired cart is read without metadata', async () => {
  const { shop, patch, read } = await useCart('customer')
  await patch({ gift_note: 'For Ada' })
  await expire(shop)
  expect((await read()).metadata).toEqual({})
})

test('a cart of many lines reads its metadata once', async () => {
  const { patch, read, send, shop } = await useCart('customer')
  for (let line = 0; line < 5; line += 1) await send('POST', { variant_id: shop.catalog.sell(), quantity: 1 })
  await patch({ gift_note: 'For Ada' })
  const { metadata, items } = await read()
  expect([metadata, items.length]).toEqual([{ gift_note: 'For Ada' }, 6])
})

test("a cart merge adds the guest's metadata to the customer's where its keys are missing", async () => {
  const { shop, patch, guestToken, mug } = await useCart('guest')
  await patch({ gift_note: 'For Ada', source: 'guest' })
  const token = newId()
  await shop.request('POST', '/api/cart', { token, body: { variant_id: mug, quantity: 1 } })
  await shop.request('PATCH', '/api/cart', { token, body: { metadata: { source: 'account' } } })
  const body = { guest_cart_token: guestToken }
  const { json } = await shop.request('POST', '/api/cart/merge', { token, body })
  expect(json.metadata).toEqual({ gift_note: 'For Ada', source: 'account' })
  expect(json).toMatchObject({ count: 3, merge: { status: 'merged' } })
  expect((await shop.request('GET', '/api/cart', { token })).json).toMatchObject({
    metadata: json.metadata,
    version: json.version
  })
})
