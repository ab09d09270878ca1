import { type AllocationRules, quantitiesByItem } from './allocation.ts'
import { sumOf } from './availability.ts'
import type { NoteBranch } from './branches.ts'
import { releaseUnits } from './facts.ts'
import { isOpen, openQuantity, type ReservationRow, type StockLedger } from './ledger.ts'
import { addUnits } from './reserve.ts'
import type {
  EvictionVictim,
  StockItem,
  StockLevel,
  StockOutcome,
  StockPart,
  TakeOperation
} from './state.ts'

type Rules = AllocationRules & typeof TAKE_RULES
export const TAKE_RULES = {
  /**
   * A claimed reservation of an unpaid order with no shipped units. A row that a payment has locked cannot
   * be taken.
   */
  isTakeable: (row: ReservationRow): boolean =>
    row.isUnlocked && row.state === 'claimed' && row.fulfilled === 0,
  /** Units of an item that a victim keeps. */
  keptUnits: ({ keep }: EvictionVictim, itemId: string): number => quantitiesByItem(keep).get(itemId) ?? 0
}

type Share = { readonly row: ReservationRow; readonly quantity: number }

/** Gives the owner free units first, then units of the victims in their order. All or nothing. */
export function take(
  ledger: StockLedger,
  operation: TakeOperation,
  rules: Rules,
  note: NoteBranch
): StockOutcome {
  const shares: Share[] = []
  const short: { variantId: string; requested: number; available: number }[] = []
  for (const [itemId, quantity] of quantitiesByItem(operation.parts)) {
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
  for (const { row, quantity } of shares) releaseUnits(ledger, operation, row, quantity)
  for (const [itemId, quantity] of quantitiesByItem(operation.parts)) {
    const item = ledger.item(itemId)
    if (item?.tracked)
      for (const row of addUnits(ledger, operation, { item, quantity }, rules, note)) confirm(ledger, row)
  }
  return { kind: 'took', lost: lostBy(shares) }
}

/** Finds the units that victims lose so that enough is available, and the available quantity then. */
function findShares(
  ledger: StockLedger,
  { victims, owner }: TakeOperation,
  { item, quantity }: { readonly item: StockItem; readonly quantity: number },
  rules: Rules,
  note: NoteBranch
): { shares: Share[]; available: number } {
  const levels: (StockLevel & { reserved: number })[] = ledger.levelsOf(item.id).map(level => ({ ...level }))
  const shares: Share[] = []
  let available = rules.availableOf(item, levels)
  for (const victim of victims.filter(each => each.owner !== owner)) {
    const rows = ledger.rowsOf(victim.owner).filter(each => isOpen(each) && each.itemId === item.id)
    let most = sumOf(rows, openQuantity) - rules.keptUnits(victim, item.id)
    for (const level of levels) {
      const row = rows.find(({ locationId }) => locationId === level.locationId)
      if (row === undefined || !level.active || available >= quantity) continue
      if (!rules.isTakeable(row)) {
        note('take-spares')
        continue
      }
      let taken = 0
      // At a level with backorders a released unit does not become available.
      while (available < quantity && taken < Math.min(most, openQuantity(row))) {
        const units = Math.min(quantity - available, Math.min(most, openQuantity(row)) - taken)
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

function confirm(ledger: StockLedger, row: ReservationRow): void {
  row.state = 'confirmed'
  row.isExpired = false
  ledger.noteRow(row)
}

function lostBy(shares: readonly Share[]): { owner: string; parts: StockPart[] }[] {
  const byOwner = Map.groupBy(shares, ({ row }) => row.owner)
  return [...byOwner].map(([owner, of]) => {
    const sums = quantitiesByItem(of.map(({ row, quantity }) => ({ itemId: row.itemId, quantity })))
    return { owner, parts: [...sums].map(([itemId, quantity]) => ({ itemId, quantity })) }
  })
}
