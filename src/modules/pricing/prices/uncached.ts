import type { Queryable } from '../../../platform/postgres/database.ts'
import { listMarketPriceListChains } from '../price-lists/repository.ts'
import {
  findPriceBreaksInListChain,
  type PriceBreaks,
  type PriceListChain,
  unitPriceAtQuantity
} from './breaks.ts'
import * as repository from './repository.ts'

/** A price list of a market with its ancestors. */
export type MarketPriceList = {
  readonly id: string
  readonly currency: string
  readonly chain: PriceListChain
}
type PriceQuery = { readonly variantId: string; readonly quantity: number }

/** See `PricingApi.marketLists`. */
export async function readPriceListsOfAllMarkets(db: Queryable): Promise<MarketPriceList[]> {
  const links = Map.groupBy(await db.rows(listMarketPriceListChains), row => row.list_id)
  return [...links].map(([id, rows]) => ({
    id,
    currency: rows[0]?.currency ?? '',
    chain: rows.map(row => ({ id: row.id, adjustmentPpm: row.adjustment_ppm }))
  }))
}

/** See `PricingApi.pricesIn`. */
export async function readUncachedListPrices(
  db: Queryable,
  lists: readonly MarketPriceList[],
  wanted: readonly PriceQuery[]
): Promise<(number | undefined)[][]> {
  const rows = await db.rows(repository.listPriceBreaks, {
    list_ids: [...new Set(lists.flatMap(({ chain }) => chain.map(({ id }) => id)))],
    variant_ids: wanted.map(({ variantId }) => variantId)
  })
  const found = new Map<string, Map<string, PriceBreaks>>()
  for (const [listId, ofList] of Map.groupBy(rows, row => row.list_id))
    found.set(
      listId,
      Map.groupBy(ofList.map(breakOf), each => each.variantId)
    )
  return lists.map(({ chain }) =>
    wanted.map(({ variantId, quantity }) =>
      unitPriceAtQuantity(
        findPriceBreaksInListChain(chain, listId => found.get(listId)?.get(variantId)),
        quantity
      )
    )
  )
}

type BreakRow = { readonly variant_id: string; readonly from_quantity: number; readonly price_minor: number }
const breakOf = ({ variant_id, from_quantity, price_minor }: BreakRow) => ({
  variantId: variant_id,
  fromQuantity: from_quantity,
  priceMinor: price_minor
})
