import { expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import {
  type CartShop,
  quantitiesOf,
  storedCart,
  useCartShop
} from '../../../../test/support/use-cart-shop.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const inSixes = { min: 6, max: 18, step: 6 }
const send = (shop: CartShop, token: string, method: string, path: string, body: unknown) =>
  shop.request(method, `/api/cart${path}`, { token, body })
const add = (shop: CartShop, token: string, variant_id: string, quantity: number) =>
  send(shop, token, 'POST', '', { variant_id, quantity })
const refused = { code: 'CART_QUANTITY_RULE', quantity_min: 6, quantity_max: 18, quantity_step: 6 }

test('a cart quantity that breaks the quantity rule of the variant is rejected and changes nothing', async () => {
  const shop = await useCartShop()
  const token = newId()
  const eggs = shop.catalog.sell({ rule: inSixes })
  for (const quantity of [1, 5, 7, 24]) {
    const { status, json } = await add(shop, token, eggs, quantity)
    expect([quantity, status, json]).toMatchObject([quantity, 409, refused])
  }
  expect((await add(shop, token, eggs, 12)).json.items[0]).toMatchObject({ quantity: 12, available: true })
  const before = await storedCart(shop, token)
  // The rule applies to the new quantity of the line: 12 + 5, and 12 + 12.
  for (const quantity of [5, 12]) expect((await add(shop, token, eggs, quantity)).json).toMatchObject(refused)
  const set = (quantity: number) => send(shop, token, 'PUT', `/items/${eggs}`, { quantity })
  for (const quantity of [1, 13, 24]) expect((await set(quantity)).json).toMatchObject(refused)
  expect(await storedCart(shop, token)).toEqual(before)
  expect((await set(18)).json.count).toBe(18)
})

test('a quantity that breaks the quantity rule is rejected in a guest cart', async () => {
  const shop = await useCartShop()
  const body = { variant_id: shop.catalog.sell({ rule: inSixes }), quantity: 3 }
  expect(await shop.request('POST', '/api/guest-cart', { body })).toMatchObject({
    status: 409,
    json: refused
  })
})

test("a merge reduces the guest's cart lines to the quantity rule, reports it, and keeps the customer's lines", async () => {
  const shop = await useCartShop()
  const token = newId()
  const [eggs, jam, mug] = [shop.catalog.sell(), shop.catalog.sell({ rule: inSixes }), shop.catalog.sell()]
  await add(shop, token, eggs, 7)
  shop.catalog.sell({ variantId: eggs, rule: inSixes })
  const items = [
    { variant_id: eggs, quantity: 4 },
    { variant_id: jam, quantity: 17 },
    { variant_id: mug, quantity: 1 }
  ]
  const { json } = await send(shop, token, 'POST', '/merge', { items })
  expect(quantitiesOf(json)).toEqual({ [eggs]: 7, [jam]: 12, [mug]: 1 })
  expect(json.merge).toMatchObject({
    moved: 2,
    adjustments: [
      { variant_id: eggs, requested: 11, granted: 7, reason: 'quantity_rule' },
      { variant_id: jam, requested: 17, granted: 12, reason: 'quantity_rule' }
    ]
  })
  // The line was added before the rule: it stays, with `available` false.
  expect(json.items.map((item: { available: boolean }) => item.available)).toEqual([false, true, true])
})
