import type { RowOf } from '../../../platform/postgres/statement.ts'
import type { Break, listBooks } from './repository.ts'

const LEVEL_KINDS = [
  'movement_missing',
  'movement_differs',
  'movement_beyond',
  'level_ahead',
  'level_differs',
  'level_missing',
  'reserved_differs'
] as const
export const FINDING_KINDS = [...LEVEL_KINDS, 'reservation_overdue', 'request_overdue'] as const
export type FindingKind = (typeof FINDING_KINDS)[number]

/** What was found to be wrong, and of what. */
export type Finding = { readonly detail: string } & (
  | {
      readonly kind: (typeof LEVEL_KINDS)[number]
      readonly itemId: string
      readonly locationId: string
    }
  | { readonly kind: 'reservation_overdue'; readonly owner: string; readonly itemIds: readonly string[] }
  | { readonly kind: 'request_overdue'; readonly requestId: string }
)
type OfLevel = Extract<Finding, { locationId: string }>

/** `findings` are the first thousand. */
export type Tally = {
  readonly findings: readonly Finding[]
  readonly total: number
  readonly counts: ReadonlyMap<FindingKind, number>
}
/** `repaired`: of all findings, those that are not there any more; `left`: the first thousand of those that are. */
export type CheckReport = Pick<Tally, 'findings' | 'total'> & {
  readonly repaired: number
  readonly left: readonly Finding[]
}

/** A level with what its movements and reservations say of it. */
type LevelBooks = RowOf<typeof listBooks>

/** A movement that was lost, or one that says what had to be changed. */
type Repair = {
  readonly seq: number
  readonly onHandDelta: number
  readonly reservedDelta: number
  readonly onHandAfter: number
  readonly reservedAfter: number
}
type Balance = { readonly seq: number; readonly onHand: number; readonly reserved: number }

export type Judged = {
  readonly findings: readonly Finding[]
  /** Movements to be written. */
  readonly inserted: readonly Repair[]
  /** Movements behind this one never happened. */
  readonly lastSeq: number | undefined
  /** What the level is then; undefined: as it is. */
  readonly level: Balance | undefined
}

/** The movements between two balances: the first says what happened, the others that there were more. */
function bridge(from: Balance, to: Balance): Repair[] {
  const between = Array.from({ length: to.seq - from.seq }, (_, index) => from.seq + index + 1)
  return between.map((seq, index) => ({
    seq,
    onHandDelta: index === 0 ? to.onHand - from.onHand : 0,
    reservedDelta: index === 0 ? to.reserved - from.reserved : 0,
    onHandAfter: to.onHand,
    reservedAfter: to.reserved
  }))
}

const gapOf = (at: Break): { from: Balance; to: Balance } => ({
  from: { seq: at.previous, onHand: at.on_hand_before, reserved: at.reserved_before },
  to: {
    seq: at.seq - 1,
    onHand: at.on_hand_after - at.on_hand_delta,
    reserved: at.reserved_after - at.reserved_delta
  }
})
const words = ({ seq, onHand, reserved }: Balance) => `${onHand} and ${reserved} reserved at ${seq}`

/**
 * What is wrong with a level and how it becomes right: movements are what happened, and reservations are what orders stand
 * on, so the level follows the one and reserved the other.
 */
export function judge(books: LevelBooks): Judged {
  const findings: Finding[] = []
  const inserted: Repair[] = []
  const find = (kind: OfLevel['kind'], detail: string) =>
    findings.push({ kind, itemId: books.item_id, locationId: books.location_id, detail })

  const level: Balance = { seq: books.seq, onHand: books.on_hand, reserved: books.reserved }
  let end: Balance = { seq: books.last_seq, onHand: books.last_on_hand, reserved: books.last_reserved }
  let lastSeq: number | undefined
  if (end.seq > level.seq) {
    find('movement_beyond', `movements go to ${end.seq}, the level is at ${level.seq}`)
    const doesMeet = end.reserved === books.open && !books.breaks.some(({ seq }) => seq > level.seq)
    if (!doesMeet) {
      lastSeq = level.seq
      end = { seq: level.seq, onHand: books.at_on_hand, reserved: books.at_reserved }
    }
  }

  for (const each of books.breaks.filter(({ seq }) => seq <= end.seq)) {
    const { from, to } = gapOf(each)
    const isGap = from.seq < to.seq
    if (isGap) {
      find('movement_missing', `from ${from.seq + 1} to ${to.seq}`)
      inserted.push(...bridge(from, to))
    } else find('movement_differs', `${each.seq} does not follow from ${from.seq}`)
  }

  if (level.seq > end.seq) {
    find('level_ahead', `the level is at ${level.seq}, movements go to ${end.seq}`)
    inserted.push(...bridge(end, level))
    end = level
  } else if (level.seq === end.seq && (level.onHand !== end.onHand || level.reserved !== end.reserved))
    find('level_differs', `the level says ${words(level)}, its movements ${words(end)}`)

  if (end.reserved !== books.open) {
    find('reserved_differs', `${end.reserved} reserved, reservations are ${books.open}`)
    const right = { seq: end.seq + 1, onHand: end.onHand, reserved: books.open }
    inserted.push(...bridge(end, right))
    end = right
  }
  const isLevelRight = level.seq === end.seq && level.onHand === end.onHand && level.reserved === end.reserved
  return { findings, inserted, lastSeq, level: isLevelRight ? undefined : end }
}
