import { onTestFinished } from 'vitest'
import { type CartShop, type CartShopOptions, openCartShop } from './cart-shop.ts'
import { createTestDatabase } from './database.ts'

/** A cart shop for one test, on a database of its own; closed and dropped when the test has finished. */
export async function useCartShop(options: Omit<CartShopOptions, 'databaseUrl'> = {}): Promise<CartShop> {
  const database = await createTestDatabase()
  const shop = await openCartShop({ databaseUrl: database.url, ...options })
  onTestFinished(async () => {
    await shop.close()
    await database.drop()
  })
  return shop
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
