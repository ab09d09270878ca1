import { RecentlyUsedPairMap } from '../../../kernel/recently-used-pair-map.ts'
import { type CacheInvalidator, createCachedReader } from '../../../platform/cached.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { PriceChangeBroadcaster } from '../price-lists/price-changes.ts'
import { listParentsOfAllPriceLists } from '../price-lists/repository.ts'
import { PRICE_LISTS_MAX } from '../price-lists/schema.ts'
import {
  type CompactPriceBreaks,
  findPriceBreaksInListChain,
  flattenPriceBreaks,
  type PriceListChain,
  type PriceListChainLink,
  unitPriceInCompactBreaks
} from './breaks.ts'
import * as repository from './repository.ts'

/** Maximum number of cached pairs of list and variant. */
const KEPT_MAX = 200_000

type Deps = { db: Queryable; invalidation: CacheInvalidator; priceChanges: PriceChangeBroadcaster }
type PriceQuery = { readonly variantId: string; readonly quantity: number }

/**
 * Caches effective prices of lists, including inherited ones, until they change. Nothing is cached while
 * changes may be missed.
 */
export function createCachedPriceLookup({ db, invalidation, priceChanges }: Deps) {
  const known = new RecentlyUsedPairMap<CompactPriceBreaks>(KEPT_MAX)
  let generation = 0
  // A changed adjustment of a list also publishes all prices.
  priceChanges.subscribe(variantIds => {
    generation += 1
    if (variantIds === 'all') known.clear()
    else for (const id of variantIds) known.deleteSecond(id)
  })

  const readParents = createCachedReader(invalidation, async () => {
    const rows = await db.rows(listParentsOfAllPriceLists, { limit: PRICE_LISTS_MAX })
    return new Map(rows.map(row => [row.id, row]))
  })

  /** The list and its ancestors, in lookup order. */
  async function chainOf(listId: string): Promise<PriceListChain> {
    const parents = await readParents()
    const chain: PriceListChainLink[] = []
    for (let next = parents.get(listId); next !== undefined; next = parents.get(next.parent_id ?? ''))
      chain.push({ id: next.id, adjustmentPpm: next.adjustment_ppm })
    return chain
  }

  /** Loads the prices of these variants in one statement. */
  async function load(
    listId: string,
    variantIds: readonly string[]
  ): Promise<Map<string, CompactPriceBreaks>> {
    const generationBefore = generation
    const chain = await chainOf(listId)
    const rows = await db.rows(repository.listPriceBreaks, {
      list_ids: chain.map(({ id }) => id),
      variant_ids: variantIds
    })
    const rowsOf = Map.groupBy(rows, row => row.variant_id)
    const loaded = new Map<string, CompactPriceBreaks>()
    for (const variantId of variantIds) {
      const ofLists = Map.groupBy(rowsOf.get(variantId) ?? [], row => row.list_id)
      const breaks = findPriceBreaksInListChain(chain, id => ofLists.get(id)?.map(breakOf))
      loaded.set(variantId, flattenPriceBreaks(breaks))
    }
    // A price read before a change that arrives after its broadcast is outdated and must not be cached.
    if (generation === generationBefore && priceChanges.isLive())
      for (const [variantId, breaks] of loaded) known.set(listId, variantId, breaks)
    return loaded
  }

  async function loadMissing(
    listId: string,
    wanted: readonly PriceQuery[],
    prices: readonly (number | undefined)[],
    missing: ReadonlySet<string>
  ): Promise<(number | undefined)[]> {
    const loaded = await load(listId, [...missing])
    return wanted.map(({ variantId, quantity }, index) =>
      missing.has(variantId)
        ? unitPriceInCompactBreaks(loaded.get(variantId) ?? NONE, quantity)
        : prices[index]
    )
  }

  /** See `PricingApi.prices`. Not async, so a full cache hit costs a single promise. */
  return (
    wanted: readonly PriceQuery[],
    { priceListId }: { readonly priceListId: string | null }
  ): Promise<(number | undefined)[]> => {
    if (priceListId === null) return Promise.resolve(wanted.map(() => undefined))
    const isLive = priceChanges.isLive()
    const prices: (number | undefined)[] = []
    let missing: Set<string> | undefined
    for (const { variantId, quantity } of wanted) {
      const breaks = isLive ? known.get(priceListId, variantId) : undefined
      prices.push(breaks && unitPriceInCompactBreaks(breaks, quantity))
      if (breaks !== undefined) continue
      missing ??= new Set()
      missing.add(variantId)
    }
    return missing === undefined ? Promise.resolve(prices) : loadMissing(priceListId, wanted, prices, missing)
  }
}

const NONE: CompactPriceBreaks = []

type BreakRow = { readonly from_quantity: number; readonly price_minor: number }
const breakOf = ({ from_quantity, price_minor }: BreakRow) => ({
  fromQuantity: from_quantity,
  priceMinor: price_minor
})
