import type { Queryable } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'
import type { AvailabilityQuery, AvailabilityResponse } from './schema.ts'

/** Units that can be bought; null: unknown, not tracked or unlimited. */
export type AvailableQuantity = number | null

/** See `InventoryApi.availableIn`. */
export async function readAvailableQuantities(
  db: Queryable,
  variantIds: readonly string[]
): Promise<AvailableQuantity[]> {
  if (variantIds.length === 0) return []
  const rows = await db.rows(repository.listAvailableQuantities, { variantIds })
  const byVariant = new Map(rows.map(row => [row.variant_id, row.available]))
  return variantIds.map(id => byVariant.get(id) ?? null)
}

/** Lists available quantities for the public route. */
export const createAvailabilityService = (
  available: (variantIds: readonly string[]) => Promise<AvailableQuantity[]>
) => ({
  list: async ({ variant_ids }: AvailabilityQuery): Promise<AvailabilityResponse> => {
    const ids = variant_ids.split(',')
    const found = await available(ids)
    return { items: ids.map((variant_id, index) => ({ variant_id, available: found[index] ?? null })) }
  }
})
export type AvailabilityService = ReturnType<typeof createAvailabilityService>
