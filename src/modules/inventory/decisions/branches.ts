import type { InventoryItemStockPolicy, KitExpandedLine, StockLevel, StockOperationOutcome } from './state.ts'

/** The cases that a stock decision distinguishes. A test counts them, so that none stays untested. */
export const STOCK_DECISION_BRANCHES = [
  'reserved-fresh',
  'reserved-again-held',
  'reserved-again-claimed',
  'contested',
  'contest-refused',
  'taken',
  'replaced',
  'replace-refused',
  'reserved-after-close',
  'one-location',
  'split',
  'backorder',
  'backorder-refused',
  'any',
  'untracked',
  'kit',
  'kit-short',
  'same-item-twice',
  'short-several',
  'no-active-level',
  'take-free',
  'take-evicts',
  'take-spares',
  'take-short',
  'drop-held',
  'drop-nothing',
  'expire-due',
  'expire-not-due',
  'expire-claimed',
  'release-all',
  'release-part',
  'release-surplus',
  'ship',
  'ship-closes',
  'ship-surplus',
  'unship',
  'unship-opens',
  'unship-forgotten',
  'unship-surplus',
  'unship-nothing',
  'return',
  'count',
  'count-same',
  'count-stale',
  'count-short',
  'adjust',
  'adjust-negative',
  'later-row',
  'later-level',
  'crossed-out',
  'crossed-in',
  'crossed-low'
] as const
export type StockDecisionBranch = (typeof STOCK_DECISION_BRANCHES)[number]
export type StockDecisionBranchListener = (branch: StockDecisionBranch) => void

type Books = {
  item: (itemId: string) => InventoryItemStockPolicy | undefined
  levelsOf: (itemId: string) => readonly StockLevel[]
}
const isKit = ({ variantId, parts }: KitExpandedLine): boolean =>
  parts.some(part => part.itemId !== variantId)

/** Reports the special cases of the requested lines, whatever the outcome. */
export function reportReservationDecisionBranches(
  needs: readonly KitExpandedLine[],
  { item, levelsOf }: Books,
  note: StockDecisionBranchListener
): void {
  const itemIds = needs.flatMap(need => need.parts.map(part => part.itemId))
  if (needs.some(isKit)) note('kit')
  if (new Set(itemIds).size < itemIds.length) note('same-item-twice')
  if (itemIds.some(itemId => !item(itemId)?.tracked)) note('untracked')
  if (itemIds.some(itemId => item(itemId)?.tracked && !levelsOf(itemId).some(level => level.active)))
    note('no-active-level')
}

type Short = Extract<StockOperationOutcome, { kind: 'short' }>['lines']
export function reportShortageDecisionBranches(
  needs: readonly KitExpandedLine[],
  short: Short,
  { item }: Books,
  note: StockDecisionBranchListener
): void {
  const refused = needs.filter(need => short.some(line => line.variantId === need.variantId))
  if (short.length > 1) note('short-several')
  if (refused.some(isKit)) note('kit-short')
  if (refused.some(need => need.parts.some(part => item(part.itemId)?.backorder === 'limit')))
    note('backorder-refused')
}
