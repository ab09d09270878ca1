import type { Module } from '../../src/module.ts'
import { cartModule } from '../../src/modules/cart/index.ts'
import { type FakeCatalog, fakeCatalog } from '../../src/modules/catalog/fake.ts'
import type { TestShop } from '../../src/testing.ts'
import { useShop } from './use-shop.ts'

/** The cart with a catalog in memory. */
export type CartShop = TestShop<{ catalog: FakeCatalog }> & { catalog: FakeCatalog }

/** A cart shop for one test, on a database of its own. The token of a customer is the customer's id. */
export async function useCartShop(
  settings: Record<string, string> = {},
  cart: Module = cartModule
): Promise<CartShop> {
  const shop = await useShop({ modules: [cart], instead: { catalog: fakeCatalog() }, settings })
  return { ...shop, catalog: shop.instead.catalog }
}

/** What the shop keeps of a customer's cart: to see that nothing changed, compare two of them. */
export async function storedCart(shop: CartShop, cartId: string) {
  const carts = await shop.sql('select * from cart.carts where cart_id = $1', [cartId])
  const items = await shop.sql('select * from cart.items where cart_id = $1 order by variant_id', [cartId])
  return { carts, items }
}

/** The lines of an answered cart as `{ variant_id: quantity }`. */
export const quantitiesOf = (json: {
  items: { variant_id: string; quantity: number }[]
}): Record<string, number> => Object.fromEntries(json.items.map(item => [item.variant_id, item.quantity]))
