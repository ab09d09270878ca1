import { RecentPairs } from '../../../kernel/recent-pairs.ts'
import { type Changes, keep } from '../../../platform/kept.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { listParents } from '../price-lists/repository.ts'
import { PRICE_LISTS_MAX } from '../price-lists/schema.ts'
import { type KeptBreaks, keptBreaks, keptPriceAt } from './breaks.ts'
import { breaksOf, type Chain, type Link } from './chain.ts'
import type { PriceChanges } from './changes.ts'
import * as repository from './repository.ts'

/** Each a variant in a list. */
const KEPT_MAX = 200_000

type Deps = { db: Queryable; changes: Changes; priceChanges: PriceChanges }
type Wanted = { readonly variantId: string; readonly quantity: number }

/**
 * Prices of lists, with what comes from those that they rest on, kept in this process until they change. While changes may be
 * missed, nothing is kept.
 */
export function createPrices({ db, changes, priceChanges }: Deps) {
  const known = new RecentPairs<KeptBreaks>(KEPT_MAX)
  let generation = 0
  // Of a list that adds something else to its parent, too: then all prices are announced.
  priceChanges.subscribe(variantIds => {
    generation += 1
    if (variantIds === 'all') known.clear()
    else for (const id of variantIds) known.deleteSecond(id)
  })

  const readParents = keep(changes, async () => {
    const rows = await db.rows(listParents, { limit: PRICE_LISTS_MAX })
    return new Map(rows.map(row => [row.id, row]))
  })

  /** The list and all that it rests on, in the order in which they are asked. */
  async function chainOf(listId: string): Promise<Chain> {
    const parents = await readParents()
    const chain: Link[] = []
    for (let next = parents.get(listId); next !== undefined; next = parents.get(next.parent_id ?? ''))
      chain.push({ id: next.id, adjustmentPpm: next.adjustment_ppm })
    return chain
  }

  /** What the list has for these variants, in one statement. */
  async function load(listId: string, variantIds: readonly string[]): Promise<Map<string, KeptBreaks>> {
    const generationBefore = generation
    const chain = await chainOf(listId)
    const rows = await db.rows(repository.listBreaks, {
      list_ids: chain.map(({ id }) => id),
      variant_ids: variantIds
    })
    const rowsOf = Map.groupBy(rows, row => row.variant_id)
    const loaded = new Map<string, KeptBreaks>()
    for (const variantId of variantIds) {
      const ofLists = Map.groupBy(rowsOf.get(variantId) ?? [], row => row.list_id)
      const breaks = breaksOf(chain, id => ofLists.get(id)?.map(breakOf))
      loaded.set(variantId, keptBreaks(breaks))
    }
    // What was read before a change, and arrives after its announcement, is already old: it must not be kept.
    if (generation === generationBefore && priceChanges.isLive())
      for (const [variantId, breaks] of loaded) known.set(listId, variantId, breaks)
    return loaded
  }

  async function loadMissing(
    listId: string,
    wanted: readonly Wanted[],
    prices: readonly (number | undefined)[],
    missing: ReadonlySet<string>
  ): Promise<(number | undefined)[]> {
    const loaded = await load(listId, [...missing])
    return wanted.map(({ variantId, quantity }, index) =>
      missing.has(variantId) ? keptPriceAt(loaded.get(variantId) ?? NONE, quantity) : prices[index]
    )
  }

  /** See `PricingApi.prices`. Not async: when everything is in memory, one promise is all that it costs. */
  return (
    wanted: readonly Wanted[],
    { priceListId }: { readonly priceListId: string | null }
  ): Promise<(number | undefined)[]> => {
    if (priceListId === null) return Promise.resolve(wanted.map(() => undefined))
    const isLive = priceChanges.isLive()
    const prices: (number | undefined)[] = []
    let missing: Set<string> | undefined
    for (const { variantId, quantity } of wanted) {
      const breaks = isLive ? known.get(priceListId, variantId) : undefined
      prices.push(breaks && keptPriceAt(breaks, quantity))
      if (breaks !== undefined) continue
      missing ??= new Set()
      missing.add(variantId)
    }
    return missing === undefined ? Promise.resolve(prices) : loadMissing(priceListId, wanted, prices, missing)
  }
}

const NONE: KeptBreaks = []

type BreakRow = { readonly from_quantity: number; readonly price_minor: number }
const breakOf = ({ from_quantity, price_minor }: BreakRow) => ({
  fromQuantity: from_quantity,
  priceMinor: price_minor
})
