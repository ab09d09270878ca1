import type { Queryable } from '../../../platform/postgres/database.ts'
import type { AvailabilityChangeBroadcaster } from '../availability/changes.ts'
import type { InventoryItemQuantity, KitExpandedLine, LockedStockState } from '../decisions/state.ts'
import { listAllKitComponents } from './repository.ts'

type OrderedLine = { readonly variantId: string; readonly quantity: number }
type KitIndex = {
  parts: Map<string, InventoryItemQuantity[]>
  of: Map<string, { variantId: string; quantity: number }[]>
}

/** Caches the parts of all kits in memory: there are few. */
export function createKitComponentCache({
  db,
  changes
}: {
  db: Queryable
  changes: AvailabilityChangeBroadcaster
}) {
  let known: Promise<KitIndex> | undefined
  const forget = () => {
    known = undefined
  }
  changes.subscribe({ onChange: change => change === 'all' && forget(), onGap: forget })

  async function load(): Promise<KitIndex> {
    const parts: KitIndex['parts'] = new Map()
    const of: KitIndex['of'] = new Map()
    for (const { variant_id: variantId, item_id: itemId, quantity } of await db.rows(listAllKitComponents)) {
      parts.set(variantId, [...(parts.get(variantId) ?? []), { itemId, quantity }])
      of.set(itemId, [...(of.get(itemId) ?? []), { variantId, quantity }])
    }
    return { parts, of }
  }

  async function read(): Promise<KitIndex> {
    const reading = changes.isLive() && known !== undefined ? known : load()
    if (changes.isLive()) known = reading
    return reading.catch(error => {
      if (known === reading) forget()
      throw error
    })
  }

  return {
    /** Adds the parts of each line. A variant that is no kit is its own part. */
    expand: async (lines: readonly OrderedLine[]): Promise<KitExpandedLine[]> => {
      const { parts } = await read()
      return lines.map(line => ({
        ...line,
        parts: parts.get(line.variantId) ?? [{ itemId: line.variantId, quantity: 1 }]
      }))
    },
    /** Returns the kits by the item that they contain. */
    of: async (): Promise<LockedStockState['kitsOf']> => (await read()).of
  }
}
export type KitComponentCache = ReturnType<typeof createKitComponentCache>

/** Sums the units of each item over all lines. */
export function sumKitLineUnitsByItem(needs: readonly KitExpandedLine[]): InventoryItemQuantity[] {
  const sums = new Map<string, number>()
  for (const { quantity, parts } of needs)
    for (const part of parts) sums.set(part.itemId, (sums.get(part.itemId) ?? 0) + part.quantity * quantity)
  return [...sums].map(([itemId, quantity]) => ({ itemId, quantity }))
}
