import { describe, expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import {
  type CartShop,
  quantitiesOf,
  storedCart,
  useCartShop
} from '../../../../test/support/use-cart-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { deleteExpiredGuestCarts } from '../guest/repository.ts'
import { type CartApi, cartModule } from '../index.ts'

shareShops()

const changed = { code: 'CART_CHANGED', kind: 'conflict', mayPass: true }

/** A shop with a cart of two lines, of a customer or a guest. */
async function useCart(kind: 'customer' | 'guest', settings: Record<string, string> = {}) {
  const shop = await useCartShop(settings)
  const cart = shop.apiOf(cartModule) as CartApi
  const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
  const token = newId()
  const url = kind === 'guest' ? '/api/guest-cart' : '/api/cart'
  const first = await shop.request('POST', url, { token, body: { variant_id: mug, quantity: 2 } })
  const guestToken: string = first.json.guest_cart_token ?? ''
  const caller = kind === 'guest' ? { headers: { 'x-guest-cart-token': guestToken } } : { token }
  const cartId = kind === 'guest' ? (await cart.findStoredOfGuest(guestToken)).cartId : token
  const customerId = kind === 'guest' ? null : token
  const add = (variant_id: string, quantity: number) =>
    shop.request('POST', url, { ...caller, body: { variant_id, quantity } })
  await add(tee, 3)
  return {
    shop,
    mug,
    tee,
    cartId,
    customerId,
    guestToken,
    add,
    read: () => shop.request('GET', url, caller),
    count: async () => (await shop.request('GET', `${url}/count`, caller)).json,
    take: (version: number, id = cartId) =>
      shop.db.transaction(tx => cart.emptyForOrder(tx, id, version, { canReturnLines: true })),
    giveBack: (lines: Record<string, number>, to = { customerId, cartId }) =>
      shop.db.transaction(tx => cart.restoreLines(tx, to, linesOf(lines))),
    cart
  }
}
const linesOf = (quantities: Record<string, number>) =>
  Object.entries(quantities).map(([variantId, quantity]) => ({ variantId, quantity }))
const daysLeft = async (shop: CartShop, cartId: string) => {
  const [row] = await shop.sql(
    `select case when expires_at < 'infinity' then round(extract(epoch from expires_at - now()) / 86400)::int end as days
     from cart.carts where cart_id = $1`,
    [cartId]
  )
  return row?.days
}
const expire = (shop: CartShop, cartId: string) =>
  shop.sql(`update cart.carts set expires_at = now() - interval '1 second' where cart_id = $1`, [cartId])

test('metadata that a customer stores with the empty cart after an order never expires', async () => {
  const { shop, take, cartId } = await useCart('customer')
  await take(2)
  const patch = { token: cartId, body: { metadata: { channel: 'app' } } }
  expect((await shop.request('PATCH', '/api/cart', patch)).status).toBe(200)
  expect(await daysLeft(shop, cartId)).toBeNull()
})

test("the ordered cart of a customer that expires is read and filled like one that didn't", async () => {
  const { shop, take, cartId, read, add, mug } = await useCart('customer')
  await take(2)
  await expire(shop, cartId)
  expect((await read()).json).toMatchObject({ items: [], version: 3 })
  expect((await add(mug, 1)).json).toMatchObject({ count: 1, version: 4 })
})

describe.each(['customer', 'guest'] as const)('the ordered cart of a %s', kind => {
  test('a cart is empty in its next version after an order, and can be filled again', async () => {
    const { shop, take, read, count, add, mug, cartId } = await useCart(kind)
    const before = await read()
    await take(2)
    const { json, headers } = await read()
    expect(json).toMatchObject({ items: [], count: 0, total: 0, version: 3 })
    expect(headers.etag).toBe('"3"')
    expect(Date.parse(json.updated_at)).toBeGreaterThan(Date.parse(before.json.updated_at))
    expect(await count()).toEqual({ count: 0, distinct_count: 0 })
    expect((await storedCart(shop, cartId)).items).toEqual([])
    // The expiry stays as it was, so that no index is updated.
    expect(await daysLeft(shop, cartId)).toBe(31)
    expect((await add(mug, 1)).json).toMatchObject({ count: 1, version: 4 })
  })

  test.each([true, false])(
    'a cart that expires soon is kept if the order can return its lines: %s',
    async canReturnLines => {
      const { shop, cart, cartId } = await useCart(kind)
      await shop.sql(`update cart.carts set expires_at = now() + interval '1 day' where cart_id = $1`, [
        cartId
      ])
      await shop.db.transaction(tx => cart.emptyForOrder(tx, cartId, 2, { canReturnLines }))
      expect(await daysLeft(shop, cartId)).toBe(kind === 'guest' && canReturnLines ? 30 : 1)
    }
  )

  test('an order empties no cart of another version, nor an expired, unknown or already emptied one', async () => {
    const { shop, take, cartId } = await useCart(kind)
    const before = await storedCart(shop, cartId)
    for (const version of [0, 1, 3]) await expect(take(version)).rejects.toMatchObject(changed)
    await expect(take(2, newId())).rejects.toMatchObject(changed)
    expect(await storedCart(shop, cartId)).toEqual(before)
    await expire(shop, cartId)
    const expired = await storedCart(shop, cartId)
    for (const version of [2, 3]) await expect(take(version)).rejects.toMatchObject(changed)
    expect(await storedCart(shop, cartId)).toEqual(expired)
    await shop.sql(`update cart.carts set expires_at = now() + interval '1 day' where cart_id = $1`, [cartId])
    await take(2)
    // The next version is empty.
    for (const version of [2, 3]) await expect(take(version)).rejects.toMatchObject(changed)
  })

  test('a cart is unchanged when the transaction of its order rolls back', async () => {
    const { shop, cart, cartId } = await useCart(kind)
    const before = await storedCart(shop, cartId)
    const broken = shop.db.transaction(async tx => {
      await cart.emptyForOrder(tx, cartId, 2, { canReturnLines: true })
      throw new Error('no order')
    })
    await expect(broken).rejects.toThrow('no order')
    expect(await storedCart(shop, cartId)).toEqual(before)
  })

  test('a canceled order returns its lines to the cart, after the present lines, each in the larger quantity', async () => {
    const { shop, take, giveBack, add, read, count, mug, tee, cartId } = await useCart(kind)
    const cap = shop.catalog.sell()
    await take(2)
    await add(cap, 4)
    await add(tee, 9)
    await giveBack({ [mug]: 2, [tee]: 3 })
    const { json, headers } = await read()
    expect(quantitiesOf(json)).toEqual({ [cap]: 4, [tee]: 9, [mug]: 2 })
    expect(json.items.map((item: { variant_id: string }) => item.variant_id)).toEqual([cap, tee, mug])
    expect([json.version, headers.etag]).toEqual([6, '"6"'])
    expect(await count()).toEqual({ count: 15, distinct_count: 3 })
    expect(await daysLeft(shop, cartId)).toBe(31)
    const before = await storedCart(shop, cartId)
    await giveBack({ [mug]: 2, [tee]: 3 })
    expect(await storedCart(shop, cartId)).toEqual(before)
  })

  test('a canceled order returns lines to the cart only up to the limits of a cart', async () => {
    const { shop, take, giveBack, read, mug, tee } = await useCart(kind, {
      CARTWRIGHT__CART__LINE_QUANTITY_MAX: '5',
      CARTWRIGHT__CART__LINES_MAX: '2'
    })
    await take(2)
    await giveBack({ [tee]: 7, [mug]: 5, [shop.catalog.sell()]: 1 })
    expect(quantitiesOf((await read()).json)).toEqual({ [tee]: 5, [mug]: 5 })
  })

  test('lines that are no longer for sale are returned from an order to the cart as unavailable', async () => {
    const { shop, take, giveBack, read, mug, tee } = await useCart(kind)
    await take(2)
    shop.catalog.withdraw(mug)
    await giveBack({ [mug]: 2, [tee]: 3 })
    const { json } = await read()
    expect(quantitiesOf(json)).toEqual({ [tee]: 3 })
    expect(json.unavailable_items).toMatchObject([{ variant_id: mug, quantity: 2 }])
  })

  test('emptying and restoring a cart takes the same number of statements for any number of lines', async () => {
    const counts = []
    for (const size of [1, 200]) {
      const { shop, add, read, take, giveBack, mug, tee } = await useCart(kind)
      const lines = Object.fromEntries(Array.from({ length: size }, () => [shop.catalog.sell(), 2]))
      await giveBack(lines)
      const { json } = await read()
      expect(json.distinct_count).toBe(size === 200 ? 200 : 3)
      const { statements } = await shop.record(async () => {
        await take(json.version)
        await giveBack({ ...lines, [mug]: 1, [tee]: 1 })
      })
      counts.push(statements)
      expect((await add(mug, 1)).status).toBe(size === 200 ? 409 : 200)
    }
    const [few, many] = counts
    expect(few).toEqual(many)
    expect(few).toEqual([
      'cart.take_cart',
      ...(kind === 'guest' ? ['cart.lock_guest_cart_by_id'] : []),
      'cart.lock_cart',
      'cart.list_lines',
      'cart.update_cart',
      'cart.upsert_lines'
    ])
  })
})

test('a customer without a cart, or with an expired one, gets the lines of a canceled order back', async () => {
  const { shop, giveBack, mug, cartId } = await useCart('customer')
  const other = newId()
  await giveBack({ [mug]: 2 }, { customerId: other, cartId: other })
  const ofOther = await shop.request('GET', '/api/cart', { token: other })
  expect([quantitiesOf(ofOther.json), ofOther.json.version]).toEqual([{ [mug]: 2 }, 1])
  await expire(shop, cartId)
  await giveBack({ [mug]: 7 })
  const mine = await shop.request('GET', '/api/cart', { token: cartId })
  expect([quantitiesOf(mine.json), mine.json.version]).toEqual([{ [mug]: 7 }, 4])
})

test('carts that are emptied in one group commit succeed or fail independently', async () => {
  const { shop, cart, mug, cartId, customerId } = await useCart('customer')
  const idOfGuest = async (variant_id: string) => {
    const { json } = await shop.request('POST', '/api/guest-cart', { body: { variant_id, quantity: 1 } })
    return (await cart.findStoredOfGuest(json.guest_cart_token)).cartId
  }
  const guests = [await idOfGuest(mug), await idOfGuest(mug)]
  const bystander = newId()
  await shop.request('POST', '/api/cart', { token: bystander, body: { variant_id: mug, quantity: 1 } })
  const versions = new Map([
    [guests[0] as string, 1],
    [cartId, 2],
    [guests[1] as string, 1]
  ])
  const others = await storedCart(shop, bystander)
  const take = ([id, version]: [string, number]) =>
    shop.db.groupCommit().transaction(tx => cart.emptyForOrder(tx, id, version, { canReturnLines: true }))
  // The version of one cart is not accepted for another.
  const crossed = await Promise.allSettled([take([cartId, 1]), take([guests[0] as string, 2])])
  expect(crossed).toMatchObject([{ reason: changed }, { reason: changed }])
  const { statements } = await shop.record(() => Promise.all([...versions].map(take)))
  expect(statements).toEqual(['cart.take_cart'])
  for (const id of versions.keys()) {
    const { carts, items } = await storedCart(shop, id)
    expect([carts[0]?.version, items]).toEqual([Number(versions.get(id)) + 1, []])
    expect(await daysLeft(shop, id)).toBe(id === customerId ? 31 : 30)
  }
  expect(await storedCart(shop, bystander)).toEqual(others)
})

test('the lines of a canceled order keep their metadata, and join equal lines of the cart', async () => {
  const { shop, cart, mug, tee, customerId, cartId, read } = await useCart('customer')
  const lines = [
    { variantId: mug, quantity: 1, metadata: { text: 'Ada' } },
    { variantId: mug, quantity: 3 },
    { variantId: mug, quantity: 2, metadata: { text: 'Ada' } }
  ]
  const restore = () => shop.db.transaction(tx => cart.restoreLines(tx, { customerId, cartId }, lines))
  await restore()
  const { items } = (await read()).json
  expect(items).toMatchObject([
    { variant_id: mug, quantity: 3, metadata: {} },
    { variant_id: tee, quantity: 3, metadata: {} },
    { variant_id: mug, quantity: 3, metadata: { text: 'Ada' } }
  ])
  await restore()
  expect((await read()).json.items).toEqual(items)
})

describe("lines of a guest's canceled order", () => {
  test('a guest whose cart has expired or was deleted gets no lines of a canceled order back', async () => {
    const { shop, giveBack, mug, cartId } = await useCart('guest')
    await expire(shop, cartId)
    const before = await storedCart(shop, cartId)
    await giveBack({ [mug]: 9 })
    expect(await storedCart(shop, cartId)).toEqual(before)
    expect(await shop.db.run(deleteExpiredGuestCarts, { keepMergedSeconds: 60 })).toBe(1)
    await giveBack({ [mug]: 9 })
    expect(await storedCart(shop, cartId)).toEqual({ carts: [], items: [] })
  })

  test('lines of a canceled guest order go to the customer who merged the cart and claimed the order', async () => {
    const { shop, take, giveBack, mug, cartId, guestToken } = await useCart('guest')
    await take(2)
    const token = newId()
    const body = { guest_cart_token: guestToken }
    expect((await shop.request('POST', '/api/cart/merge', { token, body })).status).toBe(200)
    await giveBack({ [mug]: 2 })
    expect(await storedCart(shop, cartId)).toEqual({ carts: [], items: [] })
    expect((await shop.request('GET', '/api/cart', { token })).json.items).toEqual([])
    await giveBack({ [mug]: 2 }, { customerId: token, cartId })
    expect(quantitiesOf((await shop.request('GET', '/api/cart', { token })).json)).toEqual({ [mug]: 2 })
  })
})
