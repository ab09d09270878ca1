import type { Item, Level, Need, Outcome } from './state.ts'

/** The cases that a decision can meet: what a test counts, so that none is left out. */
export const BRANCHES = [
  'reserved-fresh',
  'reserved-again-held',
  'reserved-again-claimed',
  'contested',
  'contest-refused',
  'taken',
  'replaced',
  'replace-refused',
  'judged-anew',
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
export type Branch = (typeof BRANCHES)[number]
export type Note = (branch: Branch) => void

type Books = {
  item: (itemId: string) => Item | undefined
  levelsOf: (itemId: string) => readonly Level[]
}
const isKit = ({ variantId, parts }: Need): boolean => parts.some(part => part.itemId !== variantId)

/** What is special about a basket, whatever comes of it. */
export function noteNeeds(needs: readonly Need[], { item, levelsOf }: Books, note: Note): void {
  const itemIds = needs.flatMap(need => need.parts.map(part => part.itemId))
  if (needs.some(isKit)) note('kit')
  if (new Set(itemIds).size < itemIds.length) note('same-item-twice')
  if (itemIds.some(itemId => !item(itemId)?.tracked)) note('untracked')
  if (itemIds.some(itemId => item(itemId)?.tracked && !levelsOf(itemId).some(level => level.active)))
    note('no-active-level')
}

type Short = Extract<Outcome, { kind: 'short' }>['lines']
export function noteShort(needs: readonly Need[], short: Short, { item }: Books, note: Note): void {
  const refused = needs.filter(need => short.some(line => line.variantId === need.variantId))
  if (short.length > 1) note('short-several')
  if (refused.some(isKit)) note('kit-short')
  if (refused.some(need => need.parts.some(part => item(part.itemId)?.backorder === 'limit')))
    note('backorder-refused')
}
