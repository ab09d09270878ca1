import { sumOf } from './availability.ts'
import { type Books, isOpen, leftOf, type Row } from './books.ts'
import type { Note } from './branches.ts'
import { giveBack } from './facts.ts'
import { type PlaceRules, sumsOf } from './place.ts'
import { add } from './reserve.ts'
import type { Item, Level, Outcome, Part, Take, Victim } from './state.ts'

type Rules = PlaceRules & typeof TAKE_RULES
export const TAKE_RULES = {
  /** What an unpaid order claims, and sent nothing of. A row that a payment holds at this moment is not there to be taken. */
  isTakeable: (row: Row): boolean => row.isFree && row.state === 'claimed' && row.fulfilled === 0,
  /** Units of an item that a victim never loses. */
  keptOf: ({ keep }: Victim, itemId: string): number => sumsOf(keep).get(itemId) ?? 0
}

type Share = { readonly row: Row; readonly quantity: number }

/** Free units become the owner's, and then those of the victims in their order. All or nothing. */
export function take(books: Books, operation: Take, rules: Rules, note: Note): Outcome {
  const shares: Share[] = []
  const short: { variantId: string; requested: number; available: number }[] = []
  for (const [itemId, quantity] of sumsOf(operation.parts)) {
    const item = books.item(itemId)
    // Of what is not counted any more, there is enough.
    if (!item?.tracked) continue
    const found = findShares(books, operation, { item, quantity }, rules, note)
    shares.push(...found.shares)
    if (found.available < quantity)
      short.push({ variantId: itemId, requested: quantity, available: found.available })
  }
  if (short.length > 0) {
    note('take-short')
    return { kind: 'short', lines: short }
  }
  note(shares.length > 0 ? 'take-evicts' : 'take-free')
  for (const { row, quantity } of shares) giveBack(books, operation, row, quantity)
  for (const [itemId, quantity] of sumsOf(operation.parts)) {
    const item = books.item(itemId)
    if (item?.tracked)
      for (const row of add(books, operation, { item, quantity }, rules, note)) confirm(books, row)
  }
  return { kind: 'took', lost: lostBy(shares) }
}

/** What the victims must give so that there is enough of an item; and how many there are then. */
function findShares(
  books: Books,
  { victims, owner }: Take,
  { item, quantity }: { readonly item: Item; readonly quantity: number },
  rules: Rules,
  note: Note
): { shares: Share[]; available: number } {
  const levels: (Level & { reserved: number })[] = books.levelsOf(item.id).map(level => ({ ...level }))
  const shares: Share[] = []
  let available = rules.availableOf(item, levels)
  for (const victim of victims.filter(each => each.owner !== owner)) {
    const rows = books.rowsOf(victim.owner).filter(each => isOpen(each) && each.itemId === item.id)
    let most = sumOf(rows, leftOf) - rules.keptOf(victim, item.id)
    for (const level of levels) {
      const row = rows.find(({ locationId }) => locationId === level.locationId)
      if (row === undefined || !level.active || available >= quantity) continue
      if (!rules.isTakeable(row)) {
        note('take-spares')
        continue
      }
      let taken = 0
      // Where more is promised than is there, a unit that is given back makes none available.
      while (available < quantity && taken < Math.min(most, leftOf(row))) {
        const units = Math.min(quantity - available, Math.min(most, leftOf(row)) - taken)
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

function confirm(books: Books, row: Row): void {
  row.state = 'confirmed'
  row.isDue = false
  books.noteRow(row)
}

function lostBy(shares: readonly Share[]): { owner: string; parts: Part[] }[] {
  const byOwner = Map.groupBy(shares, ({ row }) => row.owner)
  return [...byOwner].map(([owner, of]) => {
    const sums = sumsOf(of.map(({ row, quantity }) => ({ itemId: row.itemId, quantity })))
    return { owner, parts: [...sums].map(([itemId, quantity]) => ({ itemId, quantity })) }
  })
}
