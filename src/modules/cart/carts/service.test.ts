import { describe, expect, test } from 'vitest'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import {
  type CartShop,
  quantitiesOf,
  storedCart,
  useCartShop
} from '../../../../test/support/use-cart-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { createIdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import { fakeInventory } from '../../inventory/fake.ts'
import { deleteExpiredGuestCarts } from '../guest/repository.ts'
import { type CartLine, computeUpsertedCartLineChanges, removeCartLines } from './lines.ts'
import {
  insertCartIfMissing,
  type OptimisticCartChange,
  saveCartsIfUnchanged
} from './optimistic-repository.ts'
import { emptyExpiredCustomerCarts, lockOrCreateCart, saveCart } from './repository.ts'
import { createCartService } from './service.ts'

shareShops()

const IDLE_SECONDS = 30 * 86_400
/** The number of rows that this transaction updated, and how many of them without an index update (HOT). */
const countChanges = statement({
  name: 'test.count_changes',
  gives: { carts: 'int4', hot_carts: 'int4', items: 'int4', hot_items: 'int4' },
  text: `
    select pg_stat_get_xact_tuples_updated('cart.carts'::regclass)::int as carts,
      pg_stat_get_xact_tuples_hot_updated('cart.carts'::regclass)::int as hot_carts,
      pg_stat_get_xact_tuples_updated('cart.items'::regclass)::int as items,
      pg_stat_get_xact_tuples_hot_updated('cart.items'::regclass)::int as hot_items`
})

const add = (shop: CartShop, token: string, variantId: string, quantity = 1, headers = {}) =>
  shop.request('POST', '/api/cart', { token, headers, body: { variant_id: variantId, quantity } })
const read = (shop: CartShop, token: string) => shop.request('GET', '/api/cart', { token })
const expire = (shop: CartShop, cartId: string) =>
  shop.sql(`update cart.carts set expires_at = now() - interval '1 second' where cart_id = $1`, [cartId])
const lineOf = (id: string, variantId: string, quantity: number): CartLine => ({
  id,
  variantId,
  quantity,
  metadata: {}
})
const setting = (cartId: string, version: number, line: CartLine): OptimisticCartChange => ({
  cartId,
  version,
  change: computeUpsertedCartLineChanges([], [line]),
  idleSeconds: IDLE_SECONDS
})

describe('an expired cart', () => {
  async function expiredCart() {
    const shop = await useCartShop()
    const token = newId()
    const mug = shop.catalog.sell()
    const { json } = await add(shop, token, mug, 3)
    await expire(shop, token)
    return { shop, token, mug, version: json.version as number }
  }

  test('an expired cart is read as empty, with the next version', async () => {
    const { shop, token, version } = await expiredCart()
    expect((await read(shop, token)).json).toMatchObject({ items: [], count: 0, version: version + 1 })
    expect((await shop.request('GET', '/api/cart/count', { token })).json).toEqual({
      count: 0,
      distinct_count: 0
    })
  })

  test('an item added to an expired cart is the only one in it', async () => {
    const { shop, token, mug, version } = await expiredCart()
    const tee = shop.catalog.sell()
    const { json } = await add(shop, token, tee, 1)
    expect(quantitiesOf(json)).toEqual({ [tee]: 1 })
    expect(json.version).toBe(version + 2)
    expect((await read(shop, token)).json).toEqual(json)
    expect((await add(shop, token, mug, 1)).json).toMatchObject({ count: 2, version: version + 3 })
  })

  test('a write to an expired cart needs the version with which it is now read, not the one before', async () => {
    const { shop, token, mug, version } = await expiredCart()
    const stale = await add(shop, token, mug, 1, { 'if-match': `"${version}"` })
    expect([stale.status, stale.json.version]).toEqual([412, version + 1])
    const { headers } = await read(shop, token)
    const answer = await add(shop, token, mug, 1, { 'if-match': headers.etag })
    expect([answer.status, answer.json.count]).toEqual([200, 1])
  })

  test('an expired cart has no item to update or remove', async () => {
    const { shop, token, mug, version } = await expiredCart()
    const url = `/api/cart/items/${mug}`
    expect((await shop.request('PUT', url, { token, body: { quantity: 1 } })).status).toBe(404)
    const removed = await shop.request('DELETE', url, { token })
    expect([removed.status, removed.json.items, removed.json.version]).toEqual([200, [], version + 1])
    const cleared = await shop.request('DELETE', '/api/cart', { token })
    expect([cleared.status, cleared.json.version]).toEqual([200, version + 1])
    expect((await read(shop, token)).json.version).toBe(version + 1)
    expect((await storedCart(shop, token)).items).toEqual([])
  })

  test('the timer empties an expired cart, which is read the same before and after', async () => {
    needsOwnShop()
    const { shop, token } = await expiredCart()
    const other = newId()
    await add(shop, other, shop.catalog.sell(), 2)
    const before = await read(shop, token)
    expect(await shop.db.run(emptyExpiredCustomerCarts)).toBe(1)
    expect(await shop.db.run(emptyExpiredCustomerCarts)).toBe(0)
    expect((await read(shop, token)).json).toEqual(before.json)
    expect((await storedCart(shop, token)).items).toEqual([])
    expect((await read(shop, other)).json.count).toBe(2)
  })
})

test('a change of a cart extends its expiry, and a rejected change does not', async () => {
  const shop = await useCartShop({ CARTWRIGHT__CART__LINE_QUANTITY_MAX: '5' })
  const token = newId()
  const mug = shop.catalog.sell()
  await add(shop, token, mug, 1)
  const daysLeft = async () => {
    const [row] = await shop.sql(
      `select round(extract(epoch from expires_at - now()) / 86400)::int as days from cart.carts where cart_id = $1`,
      [token]
    )
    return row?.days
  }
  const storedExpiry = () => shop.sql('select expires_at from cart.carts where cart_id = $1', [token])
  await shop.sql(`update cart.carts set expires_at = now() + interval '2 days' where cart_id = $1`, [token])
  await add(shop, token, mug, 9)
  expect(await daysLeft()).toBe(2)
  await add(shop, token, mug, 1)
  expect(await daysLeft()).toBe(31)
  // Not every change moves the expiry, because that updates an index. It is never earlier than the idle time.
  await shop.sql(`update cart.carts set expires_at = now() + interval '30.5 days' where cart_id = $1`, [
    token
  ])
  const [before] = await storedExpiry()
  await add(shop, token, mug, 1)
  expect(await storedExpiry()).toEqual([before])
})

test('the cart timer deletes expired guest carts and old merges, and nothing else', async () => {
  needsOwnShop()
  const shop = await useCartShop()
  const mug = shop.catalog.sell()
  const guest = async () => {
    const body = { variant_id: mug, quantity: 1 }
    const { json } = await shop.request('POST', '/api/guest-cart', { body })
    return json.guest_cart_token as string
  }
  const [gone, open, merged, mergedLongAgo] = [await guest(), await guest(), await guest(), await guest()]
  const cartOf = async (token: string) => {
    const rows = await shop.sql(
      `select cart_id from cart.guest_carts where token_hash = sha256(convert_to($1, 'UTF8'))`,
      [token]
    )
    return rows[0]?.cart_id as string
  }
  const customer = newId()
  const merge = (token: string) =>
    shop.request('POST', '/api/cart/merge', { token: customer, body: { guest_cart_token: token } })
  await expire(shop, await cartOf(gone))
  await merge(merged)
  await merge(mergedLongAgo)
  await shop.sql(`update cart.guest_carts set merged_at = now() - interval '31 days' where cart_id = $1`, [
    await cartOf(mergedLongAgo)
  ])
  expect(await shop.db.run(deleteExpiredGuestCarts, { keepMergedSeconds: IDLE_SECONDS })).toBe(2)
  expect(await shop.db.run(deleteExpiredGuestCarts, { keepMergedSeconds: IDLE_SECONDS })).toBe(0)
  const headers = { 'x-guest-cart-token': open }
  expect((await shop.request('GET', '/api/guest-cart', { headers })).json.count).toBe(1)
  expect((await merge(merged)).json.merge.status).toBe('already_merged')
  expect((await merge(mergedLongAgo)).status).toBe(404)
  expect((await merge(gone)).status).toBe(404)
  expect((await shop.sql('select count(*)::int as n from cart.carts'))[0]?.n).toBe(2)
})

test('the timers do not delete an expired cart that its owner changes at the same time', async () => {
  needsOwnShop()
  const shop = await useCartShop()
  const mug = shop.catalog.sell()
  const body = { variant_id: mug, quantity: 1 }
  const { json } = await shop.request('POST', '/api/guest-cart', { body })
  await shop.sql(`update cart.carts set expires_at = now() - interval '1 second'`)
  const comeBack = statement({
    name: 'test.come_back',
    text: `update cart.carts set expires_at = now() + interval '1 day'`
  })
  await shop.db.transaction(async tx => {
    await tx.run(comeBack)
    expect(await shop.db.run(deleteExpiredGuestCarts, { keepMergedSeconds: IDLE_SECONDS })).toBe(0)
    expect(await shop.db.run(emptyExpiredCustomerCarts)).toBe(0)
  })
  const headers = { 'x-guest-cart-token': json.guest_cart_token as string }
  expect((await shop.request('GET', '/api/guest-cart', { headers })).json.count).toBe(1)
})

test('a cart item whose variant is no longer for sale stays, is excluded from the totals, and can be removed', async () => {
  const shop = await useCartShop()
  const token = newId()
  const [mug, tee] = [
    shop.catalog.sell({ name: 'Blue mug', price: 100 }),
    shop.catalog.sell({ price: 1_000 })
  ]
  await add(shop, token, mug, 3)
  await add(shop, token, tee, 2)
  shop.catalog.withdraw(mug)
  const { json } = await read(shop, token)
  expect(quantitiesOf(json)).toEqual({ [tee]: 2 })
  expect(json.unavailable_items).toEqual([
    { id: expect.any(String), variant_id: mug, name: 'Blue mug', quantity: 3, metadata: {} }
  ])
  expect(json).toMatchObject({ count: 5, distinct_count: 2, subtotal: 2_000, total: 2_000 })
  shop.catalog.sell({ variantId: mug, price: 200 })
  expect((await read(shop, token)).json).toMatchObject({ total: 2_600, unavailable_items: [] })
  shop.catalog.withdraw(mug)
  const removed = await shop.request('DELETE', `/api/cart/items/${mug}`, { token })
  expect(removed.json).toMatchObject({ unavailable_items: [], count: 2 })
})

describe('with an inventory', () => {
  async function stockedShop() {
    const inventory = fakeInventory()
    const shop = await useCartShop({}, inventory)
    const mug = shop.catalog.sell()
    inventory.put(mug, 4)
    return { shop, mug, inventory, token: newId() }
  }

  test('with inventory, a cart shows the stock of each item, and whether it is enough', async () => {
    const { shop, mug, inventory, token } = await stockedShop()
    const { json } = await add(shop, token, mug, 3)
    expect(json.items[0]).toMatchObject({ stock: 4, available: true })
    inventory.put(mug, 2)
    expect((await read(shop, token)).json.items[0]).toMatchObject({ stock: 2, available: false, quantity: 3 })
    inventory.put(mug, null)
    expect((await read(shop, token)).json.items[0]).toMatchObject({ stock: null, available: true })
  })

  test('a cart can have any quantity of untracked variants, and of all variants without inventory', async () => {
    const { shop, token } = await stockedShop()
    const { json } = await add(shop, token, shop.catalog.sell(), 50)
    expect(json.items[0]).toMatchObject({ stock: null, available: true, quantity: 50 })
    const uncounted = await useCartShop()
    const other = await add(uncounted, token, uncounted.catalog.sell(), 50)
    expect(other.json.items[0]).toMatchObject({ stock: null, available: true })
  })

  test('a cart quantity above the stock is rejected', async () => {
    const { shop, mug, token } = await stockedShop()
    await add(shop, token, mug, 3)
    const before = await storedCart(shop, token)
    const more = await add(shop, token, mug, 2)
    expect([more.status, more.json]).toMatchObject([409, { code: 'CART_INSUFFICIENT_STOCK', available: 4 }])
    const url = `/api/cart/items/${mug}`
    const set = await shop.request('PUT', url, { token, body: { quantity: 5 } })
    expect([set.status, set.json]).toMatchObject([409, { code: 'CART_INSUFFICIENT_STOCK', available: 4 }])
    expect(await storedCart(shop, token)).toEqual(before)
    expect((await add(shop, token, mug, 1)).json.count).toBe(4)
  })

  test('a cart merge reduces quantities to the stock, and reports it', async () => {
    const { shop, mug, token } = await stockedShop()
    await add(shop, token, mug, 3)
    const body = { items: [{ variant_id: mug, quantity: 2 }] }
    const { json } = await shop.request('POST', '/api/cart/merge', { token, body })
    expect(quantitiesOf(json)).toEqual({ [mug]: 4 })
    expect(json.merge).toMatchObject({
      status: 'merged',
      moved: 1,
      adjustments: [{ variant_id: mug, requested: 5, granted: 4, reason: 'insufficient_stock' }]
    })
  })
})

test('a quantity change whose line appears only after the first read is rejected, because nothing was checked', async () => {
  const inventory = fakeInventory()
  const shop = await useCartShop({}, inventory)
  const customerId = newId()
  const mug = shop.catalog.sell()
  const line = (await add(shop, customerId, mug, 1)).json.items[0]
  inventory.put(mug, 1)
  const settings = { idleSeconds: IDLE_SECONDS, currency: 'USD', lineQuantityMax: 99, linesMax: 200 }
  const cart = createCartService({ db: shop.db, catalog: shop.catalog, inventory, settings })
  // Reads find an empty cart, as before a concurrent merge. The lock finds the line.
  const handle = {
    ...cart.handleOf({ customerId, market: null }),
    find: () => cart.findStored(newId())
  }
  const write = createIdempotentWrite({
    id: newId(),
    isApplied: false,
    resultId: null,
    expectedVersion: null
  })
  const before = await storedCart(shop, customerId)
  await expect(cart.updateLine(handle, line.id, { quantity: 50 }, write)).rejects.toMatchObject({
    code: 'CART_LINE_NOT_FOUND'
  })
  expect(await storedCart(shop, customerId)).toEqual(before)
})

describe('the cost of reading', () => {
  test.each([1, 5, 200])(
    'a cart of %i lines is read with one statement, and its count with one',
    async lines => {
      const shop = await useCartShop()
      const token = newId()
      const items = Array.from({ length: lines }, () => ({ variant_id: shop.catalog.sell(), quantity: 1 }))
      await shop.request('POST', '/api/cart/merge', { token, body: { items } })
      const cart = await shop.record(() => read(shop, token))
      expect(cart.result.json.items).toHaveLength(lines)
      expect(cart.statements).toEqual(['cart.find_cart_lines'])
      const count = await shop.record(() => shop.request('GET', '/api/cart/count', { token }))
      expect(count.result.json.count).toBe(lines)
      expect(count.statements).toEqual(['cart.count_items'])
    }
  )

  test('adding an item takes two statements for a cart of any size', async () => {
    const shop = await useCartShop()
    const token = newId()
    await add(shop, token, shop.catalog.sell())
    for (let line = 0; line < 3; line += 1) {
      const { statements } = await shop.record(() => add(shop, token, shop.catalog.sell()))
      expect(statements).toEqual(['cart.find_cart_lines', 'cart.save_unchanged_carts'])
    }
  })

  test("a customer's first addition takes two statements", async () => {
    const shop = await useCartShop()
    const [token, mug] = [newId(), shop.catalog.sell()]
    const { result, statements } = await shop.record(() => add(shop, token, mug, 2))
    expect(result.json).toMatchObject({ customer_id: token, version: 1, count: 2 })
    expect(statements).toEqual(['cart.find_cart_lines', 'cart.insert_first_cart'])
    expect((await read(shop, token)).json).toEqual(result.json)
  })

  test('of simultaneous inserts of the first cart of a customer, one writes', async () => {
    const shop = await useCartShop()
    const [cartId, mug] = [newId(), shop.catalog.sell()]
    const insert = () => insertCartIfMissing(shop.db, setting(cartId, 0, lineOf(newId(), mug, 3)))
    const inserted = (await Promise.all([insert(), insert()])).filter(each => each !== undefined)
    expect(inserted).toMatchObject([{ version: 1 }])
    expect((await storedCart(shop, cartId)).items).toMatchObject([
      { id: inserted[0]?.lines[0]?.id, quantity: 3 }
    ])
  })

  test('concurrent additions of items to many carts are written in one statement', async () => {
    const shop = await useCartShop()
    const variantId = shop.catalog.sell()
    const tokens = Array.from({ length: 50 }, () => newId())
    for (const token of tokens) await add(shop, token, variantId)
    const { result: answers, statements } = await shop.record(() =>
      Promise.all(tokens.map(token => add(shop, token, variantId, 2)))
    )
    for (const [index, { json }] of answers.entries())
      expect(json).toMatchObject({ customer_id: tokens[index], count: 3, version: 2 })
    const saved = statements.filter(name => name === 'cart.save_unchanged_carts')
    expect(statements).toHaveLength(50 + saved.length)
    expect(saved.length).toBeLessThan(25)
    for (const token of tokens) expect((await read(shop, token)).json.count).toBe(3)
  })

  test('a cart without a row lock is saved only if its version has not changed', async () => {
    const shop = await useCartShop()
    const id = newId()
    const variantId = shop.catalog.sell()
    const { version, items } = (await add(shop, id, variantId)).json
    const line = lineOf(items[0].id, variantId, 7)
    const saveOver = async (of: number) => (await saveCartsIfUnchanged(shop.db, [setting(id, of, line)]))[0]
    expect(await saveOver(version - 1)).toBeUndefined()
    await expire(shop, id)
    expect(await saveOver(version)).toBeUndefined()
    expect((await storedCart(shop, id)).items).toMatchObject([{ quantity: 1 }])
    await shop.sql(`update cart.carts set expires_at = 'infinity' where cart_id = $1`, [id])
    const [first, second] = await Promise.all([saveOver(version), saveOver(version)])
    expect([first, second].filter(each => each !== undefined)).toMatchObject([{ version: version + 1 }])
    expect((await storedCart(shop, id)).items).toMatchObject([{ quantity: 7 }])
  })

  test('concurrent additions to one cart are all applied', async () => {
    const shop = await useCartShop()
    const variants = Array.from({ length: 8 }, () => shop.catalog.sell())
    for (let round = 0; round < 20; round += 1) {
      const token = newId()
      await add(shop, token, variants[0] ?? '')
      const answers = await Promise.all(variants.map(variantId => add(shop, token, variantId)))
      const versions = answers.map(({ json }) => json.version).toSorted((a, b) => a - b)
      expect(versions).toEqual(variants.map((_, index) => index + 2))
      const { json } = await shop.request('GET', '/api/cart/count', { token })
      expect(json).toEqual({ count: 9, distinct_count: 8 })
    }
  })

  test('a batch of writes saves all carts except those that have changed or are locked', async () => {
    const shop = await useCartShop()
    const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
    const [set, emptied, changed, held] = [newId(), newId(), newId(), newId()]
    const ids = new Map<string, string>()
    for (const id of [set, emptied, changed, held]) ids.set(id, (await add(shop, id, mug)).json.items[0].id)
    const mugOf = (cartId: string, quantity: number) => lineOf(ids.get(cartId) ?? '', mug, quantity)
    await add(shop, changed, tee)
    const saved = await shop.db.transaction(async tx => {
      await lockOrCreateCart(tx, held)
      return saveCartsIfUnchanged(shop.db, [
        setting(held, 1, mugOf(held, 7)),
        {
          cartId: emptied,
          version: 1,
          change: removeCartLines([mugOf(emptied, 1)], [mugOf(emptied, 1).id]),
          idleSeconds: null
        },
        setting(changed, 1, mugOf(changed, 7)),
        setting(set, 1, lineOf(newId(), tee, 7))
      ])
    })
    expect(saved).toMatchObject([undefined, { version: 2, lines: [] }, undefined, { version: 2 }])
    expect(quantitiesOf((await read(shop, set)).json)).toEqual({ [mug]: 1, [tee]: 7 })
    expect(await storedCart(shop, emptied)).toMatchObject({ items: [], carts: [{ quantity: 0 }] })
    expect(quantitiesOf((await read(shop, changed)).json)).toEqual({ [mug]: 1, [tee]: 1 })
    expect(quantitiesOf((await read(shop, held)).json)).toEqual({ [mug]: 1 })
  })

  test('changing a cart updates no database index', async () => {
    const shop = await useCartShop()
    const customerId = newId()
    const variantId = shop.catalog.sell()
    const { id } = (await add(shop, customerId, variantId)).json.items[0]
    const update = computeUpsertedCartLineChanges([], [lineOf(id, variantId, 7)])
    const changesOf = async (work: (tx: Transaction) => Promise<unknown>) => {
      const [before, after] = await shop.db.transaction(async tx => {
        const counted = await tx.first(countChanges)
        await work(tx)
        return [counted, await tx.first(countChanges)]
      })
      return Object.fromEntries(
        Object.entries(after ?? {}).map(([what, count]) => [
          what,
          count - (before?.[what as keyof typeof before] ?? 0)
        ])
      )
    }
    const inPlace = { carts: 1, hot_carts: 1, items: 1, hot_items: 1 }
    expect(await changesOf(tx => saveCart(tx, customerId, update, IDLE_SECONDS))).toEqual(inPlace)
    expect(
      await changesOf(tx => saveCartsIfUnchanged(tx, [setting(customerId, 2, lineOf(id, variantId, 8))]))
    ).toEqual(inPlace)
  })

  test('expired carts among very many are found by an index', {
    timeout: 180_000
  }, async () => {
    needsOwnShop()
    const shop = await useCartShop()
    await shop.sql(
      `insert into cart.carts (cart_id, quantity, expires_at)
       select gen_random_uuid(), 1, case when i % 3000 = 0 then now() - interval '1 day'
         when i % 2 = 0 then 'infinity' else now() + interval '20 days' end
       from generate_series(1, 300000) i`
    )
    await shop.sql(
      `insert into cart.guest_carts (token_hash, cart_id)
       select sha256(cart_id::text::bytea), cart_id from cart.carts
       where expires_at < 'infinity' limit 100000`
    )
    await shop.sql('analyze cart.carts, cart.guest_carts')
    for (const { name, text } of [emptyExpiredCustomerCarts, deleteExpiredGuestCarts]) {
      const plan = await shop.sql(`explain (analyze, costs off, timing off) ${text.replace('$1', '1000000')}`)
      const lines = plan.map(row => String(row['QUERY PLAN']))
      expect(lines.join('\n'), name).toContain('carts_expires_at')
      const widest = Math.max(...lines.map(line => Number(/rows=(\d+)/.exec(line)?.[1] ?? 0)))
      expect(widest, lines.join('\n')).toBeLessThanOrEqual(2_000)
    }
  })
})
