import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type CartApi, cartModule } from '../../src/modules/cart/index.ts'
import { needsOwnShop, shareShops } from '../support/shared-shops.ts'
import { type CartShop, quantitiesOf, useCartShop } from '../support/use-cart-shop.ts'
import { useShop } from '../support/use-shop.ts'

shareShops()

const ROUNDS = 40

async function useOrders() {
  const shop = await useCartShop({ CARTWRIGHT__CART__LINE_QUANTITY_MAX: '100000' })
  const cart = shop.apiOf(cartModule) as CartApi
  /** Whether the cart was taken. */
  const take = (cartId: string, version: number): Promise<boolean> =>
    shop.db
      .transaction(tx => cart.emptyForOrder(tx, cartId, version, { canReturnLines: true }))
      .then(
        () => true,
        error => {
          expect(error).toMatchObject({ code: 'CART_CHANGED' })
          return false
        }
      )
  const giveBack = (customerId: string | null, cartId: string, lines: Record<string, number>) =>
    shop.db.transaction(tx => cart.restoreLines(tx, { customerId, cartId }, linesOf(lines)))
  return { shop, cart, take, giveBack }
}
const linesOf = (quantities: Record<string, number>) =>
  Object.entries(quantities).map(([variantId, quantity]) => ({ variantId, quantity }))
const add = async (shop: CartShop, token: string, variant_id: string, quantity = 1) => {
  const answer = await shop.request('POST', '/api/cart', { token, body: { variant_id, quantity } })
  expect(answer.status, answer.text).toBe(200)
  return answer.json
}
/** What is in the cart. Its row agrees with its lines. */
async function contents(shop: CartShop, cartId: string): Promise<Record<string, number> & { total: number }> {
  const lines = await shop.sql('select variant_id, quantity from cart.items where cart_id = $1', [cartId])
  const total = lines.reduce((sum, line) => sum + Number(line.quantity), 0)
  const rows = await shop.sql('select quantity, distinct_count from cart.carts where cart_id = $1', [cartId])
  const expected = { quantity: total, distinct_count: lines.length }
  expect(rows).toEqual(lines.length === 0 && rows.length === 0 ? [] : [expected])
  return { ...Object.fromEntries(lines.map(line => [line.variant_id, line.quantity])), total }
}
async function guestWith(shop: CartShop, cart: CartApi, variant_id: string, quantity: number) {
  const { json } = await shop.request('POST', '/api/guest-cart', { body: { variant_id, quantity } })
  const token = json.guest_cart_token as string
  return { token, cartId: (await cart.findStoredOfGuest(token)).cartId }
}
const useOtherProcess = ({ databaseUrl, catalog }: CartShop) =>
  useShop({
    modules: [cartModule],
    instead: { catalog },
    settings: { CARTWRIGHT__CART__LINE_QUANTITY_MAX: '100000' },
    databaseUrl
  })
const countDeadlocks = async (shop: CartShop) =>
  (await shop.sql(`select deadlocks::int from pg_stat_database where datname = current_database()`))[0]
    ?.deadlocks

test('of eight orders of one cart version, only one takes the cart', async () => {
  const { shop, cart, take } = await useOrders()
  const mug = shop.catalog.sell()
  for (let round = 0; round < ROUNDS; round += 1) {
    const customer = newId()
    await add(shop, customer, mug, 2)
    const guest = await guestWith(shop, cart, mug, 2)
    for (const cartId of [customer, guest.cartId]) {
      const taken = await Promise.all(Array.from({ length: 8 }, () => take(cartId, 1)))
      expect(taken.filter(Boolean)).toHaveLength(1)
      expect(await contents(shop, cartId)).toEqual({ total: 0 })
    }
  }
})

test('an item added while a cart is ordered ends in the order or in the cart, never in both or neither', async () => {
  const { shop, take } = await useOrders()
  const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
  const customer = newId()
  await add(shop, customer, mug, 1)
  let [added, ordered, wins] = [1, 0, 0]
  for (let round = 0; round < ROUNDS; round += 1) {
    const { json } = await shop.request('GET', '/api/cart', { token: customer })
    if (json.count === 0) {
      await add(shop, customer, tee, 5)
      added += 5
      continue
    }
    const [wasTaken] = await Promise.all([
      take(customer, json.version),
      // Sometimes this arrives too late to conflict.
      round % 2 === 0 && add(shop, customer, mug, 1),
      round % 4 === 0 && add(shop, customer, tee, 2)
    ])
    added += (round % 2 === 0 ? 1 : 0) + (round % 4 === 0 ? 2 : 0)
    if (wasTaken) ordered += json.count
    wins += wasTaken ? 1 : 0
    const { total } = await contents(shop, customer)
    expect(total + ordered).toBe(added)
  }
  expect(wins).toBeGreaterThan(5)
})

test('a guest cart that is merged and ordered simultaneously is either merged or ordered', async () => {
  const { shop, cart, take } = await useOrders()
  const mug = shop.catalog.sell()
  const outcomes = { order: 0, merge: 0 }
  for (let round = 0; round < ROUNDS; round += 1) {
    const { token, cartId } = await guestWith(shop, cart, mug, 3)
    const customer = newId()
    const body = { guest_cart_token: token }
    const merge = () => shop.request('POST', '/api/cart/merge', { token: customer, body })
    const begun = round % 2 === 0 ? merge() : undefined
    const [wasTaken, merged] = await Promise.all([take(cartId, 1), begun ?? merge()])
    outcomes[wasTaken ? 'order' : 'merge'] += 1
    expect(merged.status).toBe(200)
    expect(quantitiesOf(merged.json)).toEqual(wasTaken ? {} : { [mug]: 3 })
    expect(await contents(shop, customer)).toEqual(wasTaken ? { total: 0 } : { [mug]: 3, total: 3 })
    expect(await contents(shop, cartId)).toEqual({ total: 0 })
  }
  expect(outcomes.order + outcomes.merge).toBe(ROUNDS)
})

test('of 50 changes of a guest cart in four processes while it is merged, each is merged or rejected', async () => {
  const { shop, cart } = await useOrders()
  const processes = [shop, ...(await Promise.all([1, 2, 3].map(() => useOtherProcess(shop))))]
  const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
  const outcomes = { added: 0, gone: 0 }
  for (let round = 0; round < 10; round += 1) {
    const { token, cartId } = await guestWith(shop, cart, mug, 1)
    const customer = newId()
    await add(shop, customer, mug, 1)
    const headers = { 'x-guest-cart-token': token }
    let merging: Promise<unknown> | undefined
    const merge = async () => {
      const body = { guest_cart_token: token }
      expect((await shop.request('POST', '/api/cart/merge', { token: customer, body })).status).toBe(200)
    }
    const sums = { [mug]: 2, [tee]: 0 }
    let done = 0
    const change = async (variant_id: string, process: Pick<CartShop, 'request'> = shop) => {
      const { status, json } = await process.request('POST', '/api/guest-cart', {
        headers,
        body: { variant_id, quantity: 1 }
      })
      done += 1
      if (done > round * 5) merging ??= merge()
      expect([200, 404]).toContain(status)
      if (status === 404) expect(json.code).toBe('CART_GUEST_NOT_FOUND')
      else sums[variant_id] = (sums[variant_id] ?? 0) + 1
      outcomes[status === 200 ? 'added' : 'gone'] += 1
    }
    await Promise.all(
      Array.from({ length: 50 }, (_, at) => change(at % 3 === 0 ? mug : tee, processes[at % 4]))
    )
    await merging
    const merged = Object.fromEntries(Object.entries(sums).filter(([, quantity]) => quantity > 0))
    const { total, ...lines } = await contents(shop, customer)
    expect(lines).toEqual(merged)
    expect(await contents(shop, cartId)).toEqual({ total: 0 })
  }
  expect(outcomes.added).toBeGreaterThan(50)
  expect(outcomes.gone).toBeGreaterThan(50)
})

test('no item that is added to a cart while a canceled order returns its items is lost', async () => {
  const { shop, giveBack } = await useOrders()
  const [mug, tee, cap] = [shop.catalog.sell(), shop.catalog.sell(), shop.catalog.sell()]
  const adds = 6
  for (let round = 0; round < ROUNDS; round += 1) {
    const customer = newId()
    await add(shop, customer, tee, 1)
    const adding = Array.from({ length: adds }, () => add(shop, customer, mug, 1))
    const back = { [mug]: 4, [cap]: 2 }
    await Promise.all([...adding, giveBack(customer, customer, back), giveBack(customer, customer, back)])
    const { [mug]: mugs = 0, [cap]: caps, [tee]: tees } = await contents(shop, customer)
    expect([caps, tees]).toEqual([2, 1])
    // The return raises the quantity to at least 4, and the later additions come on top.
    const possible = Array.from({ length: adds + 1 }, (_, before) => Math.max(4, before) + adds - before)
    expect(possible).toContain(mugs)
    const { json } = await shop.request('GET', '/api/cart', { token: customer })
    expect(json.version).toBe(adds + 2)
  }
})

test('orders take carts and return items to them while guests become customers, without a deadlock', async () => {
  // It counts the deadlocks of its database.
  needsOwnShop()
  const { shop, cart, take, giveBack } = await useOrders()
  const mug = shop.catalog.sell()
  for (let round = 0; round < ROUNDS; round += 1) {
    const customers = [newId(), newId()]
    for (const customer of customers) await add(shop, customer, mug, 1)
    const guests = await Promise.all([1, 2].map(() => guestWith(shop, cart, mug, 1)))
    await Promise.all(
      guests.flatMap(({ token, cartId }, index) => {
        const customer = customers[index] ?? ''
        const other = customers[1 - index] ?? ''
        const merging = { token: customer, body: { guest_cart_token: token } }
        return [
          shop.request('POST', '/api/cart/merge', merging),
          take(cartId, 1),
          take(customer, 1),
          giveBack(null, cartId, { [mug]: 1 }),
          giveBack(other, cartId, { [mug]: 1 }),
          add(shop, customer, mug, 1)
        ]
      })
    )
    for (const cartId of [...customers, ...guests.map(guest => guest.cartId)]) await contents(shop, cartId)
    const ghosts = `select from cart.guest_carts join cart.carts using (cart_id) where merged_into is not null`
    expect(await shop.sql(ghosts)).toEqual([])
  }
  expect(await countDeadlocks(shop)).toBe(0)
})
