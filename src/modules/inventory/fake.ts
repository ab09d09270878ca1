import type { InventoryApi } from './index.ts'

/** An inventory in memory that keeps the contract of `InventoryApi`, for tests of those who ask it. */
export type FakeInventory = InventoryApi & {
  /** So many can be bought from now on; null: any number. */
  put(variantId: string, available: number | null): void
}

export function fakeInventory(): FakeInventory {
  const stock = new Map<string, number | null>()
  const available = async (variantIds: readonly string[]) => variantIds.map(id => stock.get(id) ?? null)
  return {
    available,
    availableIn: (_db, variantIds) => available(variantIds),
    describe: async (_tx, variants) => {
      for (const { variantId, tracked } of variants) {
        if (tracked === false) stock.delete(variantId)
        if (tracked === true && !stock.has(variantId)) stock.set(variantId, 0)
      }
    },
    put: (variantId, number) => {
      stock.set(variantId, number)
    }
  }
}
