import type { Transaction } from '../../../platform/postgres/database.ts'
import { priceBreakLimitReachedError } from '../errors.ts'
import * as repository from './repository.ts'
import { PRICE_BREAKS_PER_VARIANT_MAX } from './schema.ts'

export type PriceListEntry = { variantId: string; fromQuantity: number; priceMinor: number }

/** Sets prices of distinct variants or quantities. @throws `PRICING_BREAK_LIMIT` */
export async function setPriceListEntries(
  tx: Transaction,
  listId: string,
  prices: readonly PriceListEntry[]
): Promise<void> {
  const variantIds = prices.map(({ variantId }) => variantId)
  await tx.run(repository.upsertPricesOfList, {
    list_id: listId,
    variant_ids: variantIds,
    from_quantities: prices.map(({ fromQuantity }) => fromQuantity),
    prices: prices.map(({ priceMinor }) => priceMinor)
  })
  const overfull = await tx.first(repository.findVariantWithTooManyBreaks, {
    list_id: listId,
    variant_ids: variantIds,
    limit: PRICE_BREAKS_PER_VARIANT_MAX
  })
  if (overfull !== undefined)
    throw priceBreakLimitReachedError({ details: { ...overfull, limit: PRICE_BREAKS_PER_VARIANT_MAX } })
}
