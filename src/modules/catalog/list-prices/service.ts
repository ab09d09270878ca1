import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Market, MarketPriceList, PricingApi } from '../../pricing/index.ts'
import { variantPriceInputsOf } from '../discounts/pricing.ts'
import { refreshLowestListPricesJob } from './jobs.ts'
import { lowestPricesOfProducts } from './lowest.ts'
import * as repository from './repository.ts'

/** Maximum number of prices (products times lists) that one transaction updates. A job updates more. */
export const PRICES_PER_TRANSACTION_MAX = 10_000

type Deps = {
  /** Absent in a shop without pricing: then there are no price lists. */
  pricing: Pick<PricingApi, 'marketLists' | 'pricesIn'> | undefined
  enqueue: Enqueue
  currency: string
}
/** A variant and its minimum quantity. */
type SoldVariant = { readonly id: string; readonly quantity_min: number }
type Wanted = { readonly variantId: string; readonly quantity: number }

/**
 * The prices of products in the price lists of markets. The lowest price per product is stored, for product
 * lists.
 */
export function createProductPricesInPriceLists({ pricing, enqueue, currency }: Deps) {
  /** Enqueues a job that updates the lowest prices of all products after the commit. */
  function refreshSoon(tx: Transaction): void {
    if (pricing !== undefined) enqueue(tx, refreshLowestListPricesJob, {}, { subject: LOWEST_ID })
  }

  /**
   * Updates the lowest prices of these products, which `tx` has locked, in the lists that inherit from
   * `listId`, or in all. Enqueues a job when there are too many. Prices are read after the lock, so that the
   * last transaction sees all changes. Returns the number of prices that changed.
   */
  async function reprice(tx: Transaction, productIds: readonly string[], listId?: string): Promise<number> {
    if (pricing === undefined || productIds.length === 0) return 0
    const all = await pricing.marketLists(tx)
    const lists = listId === undefined ? all : all.filter(list => inheritsFromPriceList(list, listId))
    if (lists.length === 0) return 0
    if (lists.length * productIds.length > PRICES_PER_TRANSACTION_MAX) {
      refreshSoon(tx)
      return 0
    }
    const variants = await tx.rows(repository.listVariantPriceInputs, { ids: productIds, currency })
    const prices = await pricing.pricesIn(tx, lists, variants.map(variantIdWithMinimumQuantity))
    const lowest = lists.flatMap((list, index) => {
      const listed = variants.map((row, at) => ({
        productId: row.product_id,
        own: variantPriceInputsOf(row, currency),
        listed: prices[index]?.[at]
      }))
      return lowestPricesOfProducts(list.currency, listed).map(each => ({ ...each, list }))
    })
    const row = await tx.first(repository.replaceLowestListPricesOfProducts, {
      ids: productIds,
      lists: lists.map(({ id }) => id),
      productIds: lowest.map(({ productId }) => productId),
      listIds: lowest.map(({ list }) => list.id),
      currencies: lowest.map(({ list }) => list.currency),
      lowestPrices: lowest.map(({ discountedPrice }) => discountedPrice),
      fullPrices: lowest.map(({ price }) => price),
      counts: lowest.map(each => each.variants)
    })
    return row?.changed ?? 0
  }

  /**
   * Reads the prices of these variants in the list of a market, in their order, without caches. `undefined`:
   * no price.
   */
  async function pricesIn(
    db: Queryable,
    market: Market | null,
    wanted: readonly Wanted[]
  ): Promise<(number | undefined)[]> {
    if (pricing === undefined || market === null || market.priceListId === null) return []
    const lists = (await pricing.marketLists(db)).filter(({ id }) => id === market.priceListId)
    const [prices = []] = await pricing.pricesIn(db, lists, wanted)
    return prices
  }

  return { reprice, refreshSoon, pricesIn }
}
export type ProductPricesInPriceLists = ReturnType<typeof createProductPricesInPriceLists>

/** The variant in its minimum quantity, whose price product lists and pages show. */
export const variantIdWithMinimumQuantity = ({ id, quantity_min }: SoldVariant): Wanted => ({
  variantId: id,
  quantity: quantity_min
})

export const inheritsFromPriceList = ({ chain }: MarketPriceList, listId: string): boolean =>
  chain.some(({ id }) => id === listId)
