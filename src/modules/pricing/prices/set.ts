import type { Transaction } from '../../../platform/postgres/database.ts'
import { breakLimit } from '../errors.ts'
import * as repository from './repository.ts'
import { BREAKS_MAX } from './schema.ts'

export type ListPrice = { variantId: string; fromQuantity: number; priceMinor: number }

/** Sets prices of distinct variants or quantities. @throws `PRICING_BREAK_LIMIT` */
export async function setPrices(
  tx: Transaction,
  listId: string,
  prices: readonly ListPrice[]
): Promise<void> {
  const variantIds = prices.map(({ variantId }) => variantId)
  await tx.run(repository.setPrices, {
    list_id: listId,
    variant_ids: variantIds,
    from_quantities: prices.map(({ fromQuantity }) => fromQuantity),
    prices: prices.map(({ priceMinor }) => priceMinor)
  })
  const overfull = await tx.first(repository.findTooManyBreaks, {
    list_id: listId,
    variant_ids: variantIds,
    limit: BREAKS_MAX
  })
  if (overfull !== undefined) throw breakLimit({ details: { ...overfull, limit: BREAKS_MAX } })
}
