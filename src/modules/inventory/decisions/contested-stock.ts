import { sumBy } from '../../../kernel/sum-by.ts'
import { type StockAllocationRules, sumQuantitiesByItem } from './allocation.ts'
import type { StockDecisionBranchListener } from './branches.ts'
import {
  isReservationOpen,
  type MutableReservation,
  unshippedReservedUnits,
  type WorkingStockLedger
} from './ledger.ts'
import { releaseReservedUnits } from './order-changes.ts'
import { reserveAvailableUnits } from './reserve.ts'
import type {
  InventoryItemQuantity,
  InventoryItemStockPolicy,
  PreemptibleReservationOwner,
  StockLevel,
  StockOperationOutcome,
  TakeContestedStockOperation
} from './state.ts'

type Rules = StockAllocationRules & typeof CONTESTED_STOCK_TAKING_RULES
export const CONTESTED_STOCK_TAKING_RULES = {
  /**
   * A claimed reservation of an unpaid order with no shipped units. A row that a payment has locked cannot
   * be taken.
   */
  isTakeable: (row: MutableReservation): boolean =>
    row.isUnlocked && row.state === 'claimed' && row.fulfilled === 0,
  /** Units of an item that a victim keeps. */
  keptUnits: ({ keep }: PreemptibleReservationOwner, itemId: string): number =>
    sumQuantitiesByItem(keep).get(itemId) ?? 0
}

type Share = { readonly row: MutableReservation; readonly quantity: number }

/** Gives the owner free units first, then units of the victims in their order. All or nothing. */
export function takeContestedStockUnits(
  ledger: WorkingStockLedger,
  operation: TakeContestedStockOperation,
  rules: Rules,
  note: StockDecisionBranchListener
): StockOperationOutcome {
  const shares: Share[] = []
  const short: { variantId: string; requested: number; available: number }[] = []
  for (const [itemId, quantity] of sumQuantitiesByItem(operation.parts)) {
    const item = ledger.item(itemId)
    // An item that is no longer tracked is unlimited.
    if (!item?.tracked) continue
    const found = findShares(ledger, operation, { item, quantity }, rules, note)
    shares.push(...found.shares)
    if (found.available < quantity)
      short.push({ variantId: itemId, requested: quantity, available: found.available })
  }
  if (short.length > 0) {
    note('take-short')
    return { kind: 'short', lines: short }
  }
  note(shares.length > 0 ? 'take-evicts' : 'take-free')
  for (const { row, quantity } of shares) releaseReservedUnits(ledger, operation, row, quantity)
  for (const [itemId, quantity] of sumQuantitiesByItem(operation.parts)) {
    const item = ledger.item(itemId)
    if (item?.tracked)
      for (const row of reserveAvailableUnits(ledger, operation, { item, quantity }, rules, note))
        confirm(ledger, row)
  }
  return { kind: 'took', lost: lostBy(shares) }
}

/** Finds the units that victims lose so that enough is available, and the available quantity then. */
function findShares(
  ledger: WorkingStockLedger,
  { victims, owner }: TakeContestedStockOperation,
  { item, quantity }: { readonly item: InventoryItemStockPolicy; readonly quantity: number },
  rules: Rules,
  note: StockDecisionBranchListener
): { shares: Share[]; available: number } {
  const levels: (StockLevel & { reserved: number })[] = ledger.levelsOf(item.id).map(level => ({ ...level }))
  const shares: Share[] = []
  let available = rules.availableOf(item, levels)
  for (const victim of victims.filter(each => each.owner !== owner)) {
    const rows = ledger
      .rowsOf(victim.owner)
      .filter(each => isReservationOpen(each) && each.itemId === item.id)
    let most = sumBy(rows, unshippedReservedUnits) - rules.keptUnits(victim, item.id)
    for (const level of levels) {
      const row = rows.find(({ locationId }) => locationId === level.locationId)
      if (row === undefined || !level.active || available >= quantity) continue
      if (!rules.isTakeable(row)) {
        note('take-spares')
        continue
      }
      let taken = 0
      // At a level with backorders a released unit does not become available.
      while (available < quantity && taken < Math.min(most, unshippedReservedUnits(row))) {
        const units = Math.min(quantity - available, Math.min(most, unshippedReservedUnits(row)) - taken)
        level.reserved -= units
        taken += units
        available = rules.availableOf(item, levels)
      }
      most -= taken
      if (taken > 0) shares.push({ row, quantity: taken })
    }
  }
  return { shares, available }
}

function confirm(ledger: WorkingStockLedger, row: MutableReservation): void {
  row.state = 'confirmed'
  row.isExpired = false
  ledger.noteRow(row)
}

function lostBy(shares: readonly Share[]): { owner: string; parts: InventoryItemQuantity[] }[] {
  const byOwner = Map.groupBy(shares, ({ row }) => row.owner)
  return [...byOwner].map(([owner, of]) => {
    const sums = sumQuantitiesByItem(of.map(({ row, quantity }) => ({ itemId: row.itemId, quantity })))
    return { owner, parts: [...sums].map(([itemId, quantity]) => ({ itemId, quantity })) }
  })
}
