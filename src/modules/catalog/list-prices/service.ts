import { FIRST_ID } from '../../../kernel/ids.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Market, MarketList, PricingApi } from '../../pricing/index.ts'
import { priceable } from '../discounts/pricing.ts'
import { refreshListPrices } from './jobs.ts'
import { lowestIn } from './lowest.ts'
import * as repository from './repository.ts'

/** More than these, each a product in a list, are brought up to date by a job, because somebody is waiting. */
export const AT_ONCE_MAX = 10_000

type Deps = {
  /** Absent: there are no price lists. */
  pricing: Pick<PricingApi, 'marketLists' | 'pricesIn'> | undefined
  enqueue: Enqueue
  currency: string
}
/** A variant, and of how many at least it is sold. */
type Sold = { readonly id: string; readonly quantity_min: number }
type Wanted = { readonly variantId: string; readonly quantity: number }

/** What products cost in the price lists that markets have: the lowest prices are kept, for lists of products. */
export function createListPrices({ pricing, enqueue, currency }: Deps) {
  /** Brings the lowest prices of all products up to date, soon after the commit. */
  function refreshSoon(tx: Transaction): void {
    if (pricing !== undefined) enqueue(tx, refreshListPrices, {}, { subject: FIRST_ID })
  }

  /**
   * Brings the lowest prices of these products, which `tx` has locked, up to date in all lists that rest on `listId`, or in
   * all; of very many soon after the commit. Prices are read behind the lock: who comes last sees what all before have set.
   * Answers how many were others.
   */
  async function reprice(tx: Transaction, productIds: readonly string[], listId?: string): Promise<number> {
    if (pricing === undefined || productIds.length === 0) return 0
    const all = await pricing.marketLists(tx)
    const lists = listId === undefined ? all : all.filter(list => restsOn(list, listId))
    if (lists.length === 0) return 0
    if (lists.length * productIds.length > AT_ONCE_MAX) {
      refreshSoon(tx)
      return 0
    }
    const variants = await tx.rows(repository.listPriced, { ids: productIds, currency })
    const prices = await pricing.pricesIn(tx, lists, variants.map(leastOf))
    const lowest = lists.flatMap((list, index) => {
      const listed = variants.map((row, at) => ({
        productId: row.product_id,
        own: priceable(row, currency),
        listed: prices[index]?.[at]
      }))
      return lowestIn(list.currency, listed).map(each => ({ ...each, list }))
    })
    const row = await tx.first(repository.putListPrices, {
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

  /** What these cost in the list of a market, in their order, past all caches; where it has nothing, `undefined`. */
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
export type ListPrices = ReturnType<typeof createListPrices>

/** Of a variant as few as can be bought: what lists and pages of products show the price of. */
export const leastOf = ({ id, quantity_min }: Sold): Wanted => ({ variantId: id, quantity: quantity_min })

export const restsOn = ({ chain }: MarketList, listId: string): boolean =>
  chain.some(({ id }) => id === listId)
