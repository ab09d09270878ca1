import { cartModule } from '../../src/modules/cart/index.ts'
import { type FakeCatalog, fakeCatalog } from '../../src/modules/catalog/fake.ts'
import { type FakeInventory, fakeInventory } from '../../src/modules/inventory/fake.ts'
import type { InventoryApi } from '../../src/modules/inventory/index.ts'
import type { TestShop } from '../../src/testing.ts'
import { useShop } from './use-shop.ts'

/** The cart with a catalog in memory. */
export type CartShop = TestShop & { catalog: FakeCatalog }
type Fakes = { catalog: FakeCatalog; inventory?: Pick<InventoryApi, 'available'> }

const withCatalog = (): Fakes => ({ catalog: fakeCatalog() })
const withStock = () => ({ catalog: fakeCatalog(), inventory: fakeInventory() })

/** A cart shop for one test, or shared. The token of a customer is the customer's id. Without an `inventory` stock is not tracked. */
export async function useCartShop(
  settings: Record<string, string> = {},
  inventory?: Pick<InventoryApi, 'available'>
): Promise<CartShop> {
  const instead = inventory ? { ...withCatalog(), inventory } : withCatalog
  const shop = await useShop<Fakes>({ modules: [cartModule], instead, settings })
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

/** A cart shop with stock in memory, for one test, or shared. */
export async function useStockedCartShop(
  settings: Record<string, string> = {}
): Promise<CartShop & { inventory: FakeInventory }> {
  const shop = await useShop({ modules: [cartModule], instead: withStock, settings })
  return { ...shop, ...shop.instead }
}
