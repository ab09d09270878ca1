import { expect, test } from 'vitest'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { storedCart, useCartShop } from '../../../test/support/use-cart-shop.ts'
import { newId } from '../../kernel/ids.ts'

shareShops()

/** Two customers and two guests, each with a cart of one item that no other cart has. */
async function fourCarts() {
  const shop = await useCartShop()
  const customer = async () => {
    const id = newId()
    const variantId = shop.catalog.sell()
    const body = { variant_id: variantId, quantity: 2 }
    const { json } = await shop.request('POST', '/api/cart', { token: id, body })
    return { base: '/api/cart', options: { token: id }, variantId, lineId: json.items[0].id, cartId: id }
  }
  const guest = async () => {
    const variantId = shop.catalog.sell()
    const body = { variant_id: variantId, quantity: 2 }
    const { json } = await shop.request('POST', '/api/guest-cart', { body })
    const headers = { 'x-guest-cart-token': json.guest_cart_token as string }
    const [row] = await shop.sql(
      `select cart_id from cart.guest_carts where token_hash = sha256(convert_to($1, 'UTF8'))`,
      [json.guest_cart_token]
    )
    const cartId = String(row?.cart_id)
    return { base: '/api/guest-cart', options: { headers }, variantId, lineId: json.items[0].id, cartId }
  }
  const owners = [await customer(), await customer(), await guest(), await guest()]
  return { shop, owners }
}

test('no route shows or changes the cart of another customer or guest', async () => {
  const { shop, owners } = await fourCarts()
  for (const [index, me] of owners.entries()) {
    const others = owners.filter((_, position) => position !== index)
    const before = await Promise.all(others.map(other => storedCart(shop, other.cartId)))
    for (const other of others) {
      const item = `${me.base}/items/${other.variantId}`
      const set = await shop.request('PUT', item, { ...me.options, body: { quantity: 9 } })
      expect([set.status, set.json.code]).toEqual([404, 'CART_ITEM_NOT_FOUND'])
      const unknown = `${me.base}/items/${newId()}`
      const absent = await shop.request('PUT', unknown, { ...me.options, body: { quantity: 9 } })
      const { request_id: _mine, ...theirBody } = set.json
      const { request_id: _other, ...absentBody } = absent.json
      expect([theirBody, absent.status]).toEqual([absentBody, 404])
      expect((await shop.request('DELETE', item, me.options)).status).toBe(200)
      const line = `${me.base}/lines/${other.lineId}`
      const patched = await shop.request('PATCH', line, { ...me.options, body: { quantity: 9 } })
      expect([patched.status, patched.json.code]).toEqual([404, 'CART_LINE_NOT_FOUND'])
      expect((await shop.request('DELETE', line, me.options)).status).toBe(404)
    }
    const line = { variant_id: me.variantId, quantity: 1 }
    const answers = [
      await shop.request('POST', me.base, { ...me.options, body: line }),
      await shop.request('GET', me.base, me.options),
      await shop.request('GET', `${me.base}/count`, me.options),
      await shop.request('DELETE', me.base, me.options)
    ]
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      for (const other of others) {
        expect(answer.text).not.toContain(other.variantId)
        expect(answer.text).not.toContain(other.cartId)
      }
    }
    expect(await Promise.all(others.map(other => storedCart(shop, other.cartId)))).toEqual(before)
    await shop.request('POST', me.base, { ...me.options, body: { ...line, quantity: 2 } })
  }
})

test('the id of another customer or cart gives no access to a cart, as a token or as an id', async () => {
  const { shop, owners } = await fourCarts()
  const before = await Promise.all(owners.map(owner => storedCart(shop, owner.cartId)))
  const stranger = newId()
  for (const { cartId } of owners) {
    const headers = { 'x-guest-cart-token': cartId, 'x-customer-id': cartId, 'x-user-id': cartId }
    const named = await shop.request('GET', `/api/cart?customer_id=${cartId}`, { token: stranger, headers })
    expect(named.status).toBe(400)
    const asCustomer = await shop.request('GET', '/api/cart', { token: stranger, headers })
    expect(asCustomer.json).toMatchObject({ customer_id: stranger, items: [] })
    expect((await shop.request('GET', '/api/guest-cart', { headers })).status).toBe(404)
    const body = { guest_cart_token: cartId }
    expect((await shop.request('POST', '/api/cart/merge', { token: stranger, body })).status).toBe(404)
    const smuggled = { variant_id: owners[0]?.variantId, quantity: 1, customer_id: cartId }
    const refused = await shop.request('POST', '/api/cart', { token: stranger, body: smuggled })
    expect(refused.status).toBe(400)
  }
  expect(await Promise.all(owners.map(owner => storedCart(shop, owner.cartId)))).toEqual(before)
})

test("a guest cart token has no effect on the routes of a customer's cart", async () => {
  const { shop, owners } = await fourCarts()
  const [customer, , guest] = owners
  const answer = await shop.request('GET', '/api/cart', { ...customer?.options, ...guest?.options })
  expect(answer.json.items.map((item: { variant_id: string }) => item.variant_id)).toEqual([
    customer?.variantId
  ])
  const asGuest = await shop.request('GET', '/api/guest-cart', { ...customer?.options, ...guest?.options })
  expect(asGuest.json.items.map((item: { variant_id: string }) => item.variant_id)).toEqual([
    guest?.variantId
  ])
})

test('a change of a variant in one cart does not affect other carts with the variant', async () => {
  const { shop, owners } = await fourCarts()
  const mug = shop.catalog.sell()
  const body = { variant_id: mug, quantity: 2 }
  for (const { base, options } of owners) await shop.request('POST', base, { ...options, body })
  for (const [index, { base, options }] of owners.entries()) {
    const others = owners.filter((_, position) => position !== index)
    const before = await Promise.all(others.map(other => storedCart(shop, other.cartId)))
    const item = `${base}/items/${mug}`
    const answers = [
      await shop.request('PUT', item, { ...options, body: { quantity: 7 } }),
      await shop.request('DELETE', item, options),
      await shop.request('POST', base, { ...options, body }),
      await shop.request('DELETE', base, options),
      await shop.request('POST', base, { ...options, body })
    ]
    expect(answers.map(answer => answer.json.count)).toEqual([9, 2, 4, 0, 2])
    expect(await Promise.all(others.map(other => storedCart(shop, other.cartId)))).toEqual(before)
  }
})
