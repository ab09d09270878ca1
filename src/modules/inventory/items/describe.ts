import { DomainError } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { Books } from '../levels/service.ts'
import * as repository from './repository.ts'
import type { SaveItems } from './save.ts'

/** What somebody says of a variant; what is left out stays. */
export type Description = {
  readonly variantId: string
  readonly sku: string
  readonly tracked?: boolean
  readonly backorder?: 'none' | 'any'
  /** How many there are at the location from which stock is taken first, if they are counted. */
  readonly onHand?: number
}
/** `onHand`: as in `Description`; null where nothing was ever counted. */
export type StockDescription = {
  readonly tracked: boolean
  readonly backorder: 'none' | 'limit' | 'any'
  readonly onHand: number | null
}
type Said = Partial<Pick<Description, 'sku' | 'tracked' | 'backorder'>>
type Deps = { saveItems: SaveItems; books: Books }

/** How many are said to the database at once. */
const CHUNK = 500
const REQUEST_LINES = 100
const WAIT_MS = 2_000

/** Says how variants are counted, within the caller's transaction. Said twice, it changes nothing the second time. */
export function createDescribe({ saveItems, books }: Deps) {
  /** The last request of each transaction, which is done behind its others, until it is known to be done. */
  const awaited = new Set<string>()

  /** Answers which of them are counted now. `coming`: those of which there are some, as is said as well. */
  async function change(
    tx: Transaction,
    said: ReadonlyMap<string, Said>,
    coming: ReadonlySet<string> = new Set()
  ): Promise<ReadonlySet<string>> {
    const ids = [...said.keys()]
    await tx.run(repository.insertItems, { ids })
    const items = (await tx.rows(repository.lockItems, { ids })).map(before => {
      return { before, now: merge(before, said.get(before.id) ?? {}) }
    })
    await saveItems(tx, items, coming)
    return new Set(items.filter(({ now }) => now.tracked).map(({ now }) => now.id))
  }

  /** What was said to be there becomes requests, which the writer does after the commit. */
  async function postCounts(tx: Transaction, variants: readonly Description[]) {
    const counted = variants.filter(({ onHand }) => onHand !== undefined)
    const home = counted.length === 0 ? undefined : await tx.first(repository.findHome)
    if (home === undefined) return
    const lines = counted.map(({ variantId, onHand = null }) => ({
      itemId: variantId,
      locationId: home.id,
      onHand,
      safety: null,
      sourceVersion: null
    }))
    const requests = Array.from({ length: Math.ceil(lines.length / REQUEST_LINES) }, (_, index) => ({
      kind: 'count' as const,
      id: newId(),
      lines: lines.slice(index * REQUEST_LINES, (index + 1) * REQUEST_LINES),
      actor: null,
      reason: null
    }))
    await books.post(tx, requests)
    const last = requests.at(-1)
    if (last !== undefined) tx.afterCommit(() => awaited.add(last.id))
  }

  async function counted(): Promise<boolean> {
    const deadlineAt = performance.now() + WAIT_MS
    try {
      for (const id of awaited) {
        await books.outcomeOf(id, deadlineAt)
        awaited.delete(id)
      }
    } catch (error) {
      if (error instanceof DomainError && error.kind === 'unavailable') return false
      throw error
    }
    return true
  }

  return {
    /** See `InventoryApi.describe`. */
    describe: async (tx: Transaction, variants: readonly Description[]): Promise<void> => {
      for (let start = 0; start < variants.length; start += CHUNK) {
        const some = variants.slice(start, start + CHUNK)
        const coming = some.filter(({ onHand = 0 }) => onHand > 0).map(({ variantId }) => variantId)
        const tracked = await change(tx, new Map(some.map(each => [each.variantId, each])), new Set(coming))
        await postCounts(
          tx,
          some.filter(each => tracked.has(each.variantId))
        )
      }
    },
    /** See `InventoryApi.counted`. */
    counted,
    /** From here on they are counted. */
    track: async (tx: Transaction, variantIds: readonly string[]): Promise<void> => {
      await change(tx, new Map(variantIds.map(id => [id, { tracked: true }])))
    }
  }
}

/** See `InventoryApi.described`. */
export async function describedBy(
  db: Queryable,
  ids: readonly string[]
): Promise<Map<string, StockDescription>> {
  const rows = await db.rows(repository.listDescribed, { ids: [...ids] })
  return new Map(rows.map(({ id, on_hand, ...item }) => [id, { ...item, onHand: on_hand }]))
}

/** A rule that is said takes the place of another, with the limit that belonged to it. */
function merge(item: repository.ItemRow, { sku, tracked, backorder }: Said): repository.ItemRow {
  const rule = backorder === undefined ? {} : { backorder, backorder_limit: null }
  return { ...item, ...(sku !== undefined && { sku }), ...(tracked !== undefined && { tracked }), ...rule }
}
