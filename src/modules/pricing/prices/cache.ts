import { RecentMap } from '../../../kernel/recent-map.ts'
import { type Changes, keep } from '../../../platform/kept.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import { listParents } from '../price-lists/repository.ts'
import { PRICE_LISTS_MAX } from '../price-lists/schema.ts'
import { adjusted, type PriceBreaks, priceAt } from './breaks.ts'
import type { PriceChanges } from './changes.ts'
import * as repository from './repository.ts'

const VARIANTS_MAX = 100_000

/** A list and how much the prices below it are raised on their way to it. */
type Parent = { readonly id: string; readonly adjustmentPpm: number }
type Deps = { db: Queryable; changes: Changes; priceChanges: PriceChanges }

/** Of one variant by list; of a list that has none, none. */
type Known = ReadonlyMap<string, PriceBreaks>

/** Prices of lists, kept in this process by variant until they change. While changes may be missed, nothing is kept. */
export function createPrices({ db, changes, priceChanges }: Deps) {
  const known = new RecentMap<Known>(VARIANTS_MAX)
  let generation = 0
  priceChanges.subscribe(variantIds => {
    generation += 1
    if (variantIds === 'all') known.clear()
    else for (const id of variantIds) known.delete(id)
  })

  const readParents = keep(changes, async () => {
    const rows = await db.rows(listParents, { limit: PRICE_LISTS_MAX })
    return new Map(rows.map(row => [row.id, row]))
  })

  /** The list and all that it rests on, in the order in which they are asked. */
  async function chainOf(listId: string): Promise<Parent[]> {
    const parents = await readParents()
    const chain: Parent[] = []
    for (let next = parents.get(listId); next !== undefined; next = parents.get(next.parent_id ?? ''))
      chain.push({ id: next.id, adjustmentPpm: next.adjustment_ppm })
    return chain
  }

  /** All that these lists have for these variants, in one statement. */
  async function load(
    chain: readonly Parent[],
    variantIds: readonly string[]
  ): Promise<ReadonlyMap<string, Known>> {
    const generationBefore = generation
    const rows = await db.rows(repository.listBreaks, {
      list_ids: chain.map(({ id }) => id),
      variant_ids: variantIds
    })
    const rowsOf = Map.groupBy(rows, row => row.variant_id)
    const loaded = new Map<string, Known>()
    for (const variantId of variantIds) {
      const byList = Map.groupBy(rowsOf.get(variantId) ?? [], row => row.list_id)
      const breaks = chain.map(({ id }) => [id, (byList.get(id) ?? []).map(breakOf)] as const)
      loaded.set(variantId, new Map([...(known.get(variantId) ?? []), ...breaks]))
    }
    // What was read before a change, and arrives after its announcement, is already old: it must not be kept.
    if (generation === generationBefore && priceChanges.isLive())
      for (const [variantId, byList] of loaded) known.set(variantId, byList)
    return loaded
  }

  /** See `PricingApi.prices`. */
  return async (
    wanted: readonly { readonly variantId: string; readonly quantity: number }[],
    { priceListId }: { readonly priceListId: string | null }
  ): Promise<(number | undefined)[]> => {
    const chain = priceListId === null ? [] : await chainOf(priceListId)
    if (chain.length === 0) return wanted.map(() => undefined)
    const variantIds = wanted.map(({ variantId }) => variantId)
    const found = variantIds.map(id => {
      const byList = priceChanges.isLive() ? known.get(id) : undefined
      return byList !== undefined && chain.every(list => byList.has(list.id)) ? byList : undefined
    })
    const missing = new Set(variantIds.filter((_id, index) => found[index] === undefined))
    const loaded = missing.size === 0 ? undefined : await load(chain, [...missing])
    return wanted.map(({ variantId, quantity }, index) =>
      priceAt(breaksOf(chain, found[index] ?? loaded?.get(variantId)), quantity)
    )
  }
}

/** Those of the first list that has some, raised by every list between it and the one that is asked. */
function breaksOf(chain: readonly Parent[], byList: Known | undefined): PriceBreaks {
  const ownOf = ({ id }: Parent) => byList?.get(id) ?? []
  const at = chain.findIndex(list => ownOf(list).length > 0)
  const first = chain[at]
  if (first === undefined) return []
  return chain.slice(0, at).reduceRight((breaks, list) => adjusted(breaks, list.adjustmentPpm), ownOf(first))
}

type BreakRow = { readonly from_quantity: number; readonly price_minor: number }
const breakOf = ({ from_quantity, price_minor }: BreakRow) => ({
  fromQuantity: from_quantity,
  priceMinor: price_minor
})
