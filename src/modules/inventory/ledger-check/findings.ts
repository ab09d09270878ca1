import type { RowOf } from '../../../platform/postgres/statement.ts'
import type { DiscontinuousStockMovement, listStockLedgerLevels } from './repository.ts'

const LEVEL_KINDS = [
  'movement_missing',
  'movement_differs',
  'movement_beyond',
  'level_ahead',
  'level_differs',
  'level_missing',
  'reserved_differs'
] as const
export const STOCK_LEDGER_FINDING_KINDS = [...LEVEL_KINDS, 'reservation_overdue', 'request_overdue'] as const
export type StockLedgerFindingKind = (typeof STOCK_LEDGER_FINDING_KINDS)[number]

/** A discrepancy and the rows concerned. */
export type StockLedgerFinding = { readonly detail: string } & (
  | {
      readonly kind: (typeof LEVEL_KINDS)[number]
      readonly itemId: string
      readonly locationId: string
    }
  | { readonly kind: 'reservation_overdue'; readonly owner: string; readonly itemIds: readonly string[] }
  | { readonly kind: 'request_overdue'; readonly requestId: string }
)
type LevelFinding = Extract<StockLedgerFinding, { locationId: string }>

/** `findings`: the first 1,000. */
export type StockLedgerFindingTotals = {
  readonly findings: readonly StockLedgerFinding[]
  readonly total: number
  readonly counts: ReadonlyMap<StockLedgerFindingKind, number>
}
/** `repaired`: findings that are gone after the repair. `left`: the first 1,000 that remain. */
export type StockLedgerCheckReport = Pick<StockLedgerFindingTotals, 'findings' | 'total'> & {
  readonly repaired: number
  readonly left: readonly StockLedgerFinding[]
}

/** A level with the sums of its movements and reservations. */
type LedgerLevel = RowOf<typeof listStockLedgerLevels>

/** A movement to insert: a lost one, or a correction. */
type RepairMovement = {
  readonly seq: number
  readonly onHandDelta: number
  readonly reservedDelta: number
  readonly onHandAfter: number
  readonly reservedAfter: number
  readonly kind: 'repair' | 'balance'
}
type Balance = { readonly seq: number; readonly onHand: number; readonly reserved: number }

export type StockLedgerLevelAssessment = {
  readonly findings: readonly StockLedgerFinding[]
  /** Movements to insert. */
  readonly inserted: readonly RepairMovement[]
  /** The repair deletes the movements of the level after this number. */
  readonly lastSeq: number | undefined
  /** New balance of the level; undefined: unchanged. */
  readonly level: Balance | undefined
}

/**
 * A level that lost its first movements, more than these, gets a balance, because one movement for each number could be
 * millions.
 */
const FILLED_MAX = 1_000

/**
 * Returns the movements between two balances: the first carries the difference, the others fill the
 * numbers.
 */
function movementsBetween(from: Balance, to: Balance): RepairMovement[] {
  if (from.seq === 0 && to.seq > FILLED_MAX) {
    const { seq, onHand, reserved } = to
    const after = { onHandAfter: onHand, reservedAfter: reserved }
    return [{ seq, onHandDelta: onHand, reservedDelta: reserved, ...after, kind: 'balance' }]
  }
  const between = Array.from({ length: to.seq - from.seq }, (_, index) => from.seq + index + 1)
  return between.map((seq, index) => ({
    seq,
    onHandDelta: index === 0 ? to.onHand - from.onHand : 0,
    reservedDelta: index === 0 ? to.reserved - from.reserved : 0,
    onHandAfter: to.onHand,
    reservedAfter: to.reserved,
    kind: 'repair'
  }))
}

const gapBefore = (at: DiscontinuousStockMovement): { from: Balance; to: Balance } => ({
  from: { seq: at.previous, onHand: at.on_hand_before, reserved: at.reserved_before },
  to: {
    seq: at.seq - 1,
    onHand: at.on_hand_after - at.on_hand_delta,
    reserved: at.reserved_after - at.reserved_delta
  }
})
const describeBalance = ({ seq, onHand, reserved }: Balance) => `${onHand} and ${reserved} reserved at ${seq}`

/**
 * Finds the discrepancies of a level and how to repair them. Movements and reservations are authoritative:
 * the level follows its movements, and `reserved` follows the reservations.
 */
export function assessStockLedgerLevel(ledger: LedgerLevel): StockLedgerLevelAssessment {
  const findings: StockLedgerFinding[] = []
  const inserted: RepairMovement[] = []
  const find = (kind: LevelFinding['kind'], detail: string) =>
    findings.push({ kind, itemId: ledger.item_id, locationId: ledger.location_id, detail })

  const level: Balance = { seq: ledger.seq, onHand: ledger.on_hand, reserved: ledger.reserved }
  let end: Balance = { seq: ledger.last_seq, onHand: ledger.last_on_hand, reserved: ledger.last_reserved }
  let lastSeq: number | undefined
  if (end.seq > level.seq) {
    find('movement_beyond', `the last movement is ${end.seq}, the level is at ${level.seq}`)
    const doesMeet = end.reserved === ledger.open && !ledger.breaks.some(({ seq }) => seq > level.seq)
    if (!doesMeet) {
      lastSeq = level.seq
      end = { seq: level.seq, onHand: ledger.at_on_hand, reserved: ledger.at_reserved }
    }
  }

  for (const each of ledger.breaks.filter(({ seq }) => seq <= end.seq)) {
    const { from, to } = gapBefore(each)
    const isGap = from.seq < to.seq
    if (isGap) {
      find('movement_missing', `movements ${from.seq + 1} to ${to.seq} are missing`)
      inserted.push(...movementsBetween(from, to))
    } else find('movement_differs', `movement ${each.seq} does not continue movement ${from.seq}`)
  }

  if (level.seq > end.seq) {
    find('level_ahead', `the level is at ${level.seq}, the last movement is ${end.seq}`)
    inserted.push(...movementsBetween(end, level))
    end = level
  }
  const isLevelDifferent = level.onHand !== end.onHand || level.reserved !== end.reserved
  const needsNewNumber = level.seq === end.seq && isLevelDifferent
  if (needsNewNumber)
    find('level_differs', `the level has ${describeBalance(level)}, its movements ${describeBalance(end)}`)

  const isReservedDifferent = end.reserved !== ledger.open
  if (isReservedDifferent)
    find('reserved_differs', `${end.reserved} reserved, but reservations add up to ${ledger.open}`)
  // A repaired level gets a new number, because copies of the level compare it.
  if (needsNewNumber || isReservedDifferent) {
    const right = { seq: end.seq + 1, onHand: end.onHand, reserved: ledger.open }
    inserted.push(...movementsBetween(end, right))
    end = right
  }
  const isLevelRight = level.seq === end.seq && level.onHand === end.onHand && level.reserved === end.reserved
  return { findings, inserted, lastSeq, level: isLevelRight ? undefined : end }
}
