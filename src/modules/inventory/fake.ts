import { sumQuantitiesByVariant } from '../../kernel/variant-quantities.ts'
import {
  describeStockShortage,
  insufficientStockForLinesError,
  orderClaimedOtherLinesError,
  stockClaimLostError
} from './errors.ts'
import type { InventoryApi } from './index.ts'
import type { StockRequestLine } from './reservations/api.ts'

/** In-memory inventory that fulfils the contract of `InventoryApi`, for tests of modules that use it. */
export type FakeInventory = InventoryApi & {
  /** Sets how many units can be bought; null: unlimited. */
  put(variantId: string, available: number | null): void
}
type FakeReservation = { quantities: ReadonlyMap<string, number>; isClaimed: boolean }

/**
 * Creates an inventory in memory. Variants without stock are unlimited.
 * @example
 * const inventory = fakeInventory()
 * inventory.put(variantId, 3)
 * assert.deepEqual(await inventory.available([variantId]), [3])
 */
export function fakeInventory(): FakeInventory {
  const stock = new Map<string, number | null>()
  const holds = new Map<string, FakeReservation>()
  /** Shipped quantities by the id of the ship request. */
  const shipped = new Map<string, ReadonlyMap<string, number>>()
  const available = async (variantIds: readonly string[]) => variantIds.map(id => stock.get(id) ?? null)
  const take = (quantities: ReadonlyMap<string, number>, sign: 1 | -1) => {
    for (const [id, quantity] of quantities) {
      const before = stock.get(id) ?? null
      if (before !== null) stock.set(id, before - sign * quantity)
    }
  }
  const giveBack = (owner: string, hold: FakeReservation) => {
    take(hold.quantities, -1)
    holds.delete(owner)
  }

  return {
    available,
    availableCached: variantIds => variantIds.map(id => stock.get(id) ?? null),
    availableIn: (_db, variantIds) => available(variantIds),
    check: async () => ({ findings: [], total: 0, repaired: 0, left: [] }),
    areCountsApplied: async () => true,
    lowStock: async () => ({ items: [], next_cursor: null, total: 0 }),
    upsertItems: async (_tx, variants) => {
      for (const { variantId, tracked, onHand } of variants) {
        if (tracked === false) stock.delete(variantId)
        if (tracked === true && !stock.has(variantId)) stock.set(variantId, 0)
        if (onHand !== undefined && stock.has(variantId)) stock.set(variantId, onHand)
      }
    },
    listItems: async variantIds =>
      new Map(
        variantIds
          .filter(id => stock.has(id))
          .map(id => {
            const onHand = stock.get(id) ?? null
            return [id, { tracked: onHand !== null, backorder: 'none', onHand }]
          })
      ),
    exportCsv: () => {
      throw new Error('the in-memory inventory cannot export CSV')
    },
    put: (variantId, number) => {
      stock.set(variantId, number)
    },
    reserve: async (owner, lines) => {
      const quantities = sumQuantitiesByVariant(lines)
      const hold = holds.get(owner)
      if (hold !== undefined && areEqual(hold.quantities, quantities)) return []
      if (hold?.isClaimed) throw orderClaimedOtherLinesError()
      const items = [...quantities]
        .map(([variantId, requested]) => {
          const free = stock.get(variantId) ?? Number.POSITIVE_INFINITY
          return { variantId, requested, available: free + (hold?.quantities.get(variantId) ?? 0) }
        })
        .filter(line => line.available < line.requested)
      if (items.length > 0)
        throw insufficientStockForLinesError({ details: { items: items.map(describeStockShortage) } })
      if (hold !== undefined) giveBack(owner, hold)
      take(quantities, 1)
      holds.set(owner, { quantities, isClaimed: false })
      return []
    },
    release: async owner => {
      const hold = holds.get(owner)
      if (hold !== undefined && !hold.isClaimed) giveBack(owner, hold)
    },
    claim: async (_tx, owner, lines) => {
      const hold = holds.get(owner)
      if (hold === undefined || hold.isClaimed || !areEqual(hold.quantities, sumQuantitiesByVariant(lines)))
        throw stockClaimLostError()
      hold.isClaimed = true
    },
    // In this fake no owner loses units.
    confirm: async () => [],
    claimants: async () => [],
    take: async () => {},
    countFinishedTakes: async () => 0,
    rejectShort: async () => {
      throw insufficientStockForLinesError({ details: { items: [] } })
    },
    assertNotContested: async () => {},
    forgo: async (_tx, _owner, parts) => [...parts],
    post: async (_tx, request) => {
      const hold = holds.get(request.owner)
      if (request.kind === 'unship') {
        const back = shipped.get(request.shipment)
        if (hold === undefined || back === undefined) return
        shipped.delete(request.shipment)
        holds.set(request.owner, {
          ...hold,
          quantities: sumQuantitiesByVariant([...linesIn(hold.quantities), ...linesIn(back)])
        })
        return
      }
      const { id, kind, owner, lines } = request
      if (kind === 'return') take(sumQuantitiesByVariant(lines ?? []), -1)
      if (hold === undefined || kind === 'return') return
      const quantities = new Map(hold.quantities)
      const done = lines === undefined ? hold.quantities : sumQuantitiesByVariant(lines)
      for (const [id, quantity] of done) quantities.set(id, (quantities.get(id) ?? 0) - quantity)
      if (kind === 'release') take(done, -1)
      if (kind === 'ship') shipped.set(id, done)
      holds.set(owner, { ...hold, quantities })
    }
  }
}

const linesIn = (quantities: ReadonlyMap<string, number>): StockRequestLine[] =>
  [...quantities].map(([variantId, quantity]) => ({ variantId, quantity }))

const areEqual = (one: ReadonlyMap<string, number>, other: ReadonlyMap<string, number>) =>
  one.size === other.size && [...one].every(([id, quantity]) => other.get(id) === quantity)
