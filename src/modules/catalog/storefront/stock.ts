import type { InventoryApi } from '../../inventory/index.ts'
import { createFilling } from './filling.ts'
import type { ProductResponse } from './schema.ts'

/** Fills the stock of its variants into the JSON of a product. */
export function createStockOfPages(inventory: Pick<InventoryApi, 'available'> | undefined) {
  if (inventory === undefined) return async (page: string) => page
  return createFilling<number | null>({
    member: 'stock',
    idsOf: page => (JSON.parse(page) as ProductResponse).variants.map(({ id }) => id),
    valuesOf: inventory.available,
    write: String
  })
}
