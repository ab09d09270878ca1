import { fractionOf } from '../../../kernel/money.ts'
import { keyOf, type Share, type ShareKey } from './shares.ts'

/** What of a share is not to be paid any more, or is paid back. The tax in it is part of the amount. */
export type CreditPart = ShareKey & {
  /** Of a line: so many of it. */
  readonly units: number
  readonly amountMinor: number
  readonly taxMinor: number
  readonly ratePpm: number | null
  readonly taxCategory: string | null
}
export type Credit = { readonly amountMinor: number; readonly parts: readonly CreditPart[] }

/** What an order was bought for, and what of it is credited already. */
export type Ledger = { readonly totalMinor: number; readonly shares: readonly Share[] }

const sum = <T>(list: readonly T[], of: (each: T) => number) => list.reduce((all, each) => all + of(each), 0)

/** What is credited of an order so far. A total that was rounded down is less than its shares. */
export const creditedMinor = ({ totalMinor, shares }: Ledger): number =>
  Math.min(
    totalMinor,
    sum(shares, ({ creditedMinor }) => creditedMinor)
  )

/**
 * Credits so many units of each line: what all that are credited by then cost, less what those before them did. Whatever the
 * parts and their order, they add up to the line. With the last unit of a group goes what is left of its delivery, and
 * with the last one of the order what rounding had added.
 */
export function creditUnits(ledger: Ledger, units: ReadonlyMap<number, number>): Credit {
  const after = (share: Share) =>
    share.creditedUnits + (share.line === undefined ? 0 : (units.get(share.line) ?? 0))
  const open = ledger.shares.filter(share => share.line !== undefined && after(share) < share.quantity)
  const isOver = ({ group }: Share) => !open.some(line => group === undefined || line.group === group)
  return credit(ledger, share => {
    const { line, quantity, payableMinor, creditedMinor, creditedUnits } = share
    const rest = payableMinor - creditedMinor
    if (line === undefined) return { units: 0, amountMinor: isOver(share) ? rest : 0 }
    const upTo = (count: number) => fractionOf(payableMinor, count, quantity)
    const wanted = upTo(after(share)) - upTo(creditedUnits)
    return { units: after(share) - creditedUnits, amountMinor: Math.min(wanted, rest) }
  })
}

/** Credits an amount, which all that is left bears in proportion, with its tax. It is at most what is left. */
export function creditAmount(ledger: Ledger, amountMinor: number): Credit {
  const rest = sum(ledger.shares, share => share.payableMinor - share.creditedMinor)
  const isAll = amountMinor === ledger.totalMinor - creditedMinor(ledger)
  let before = 0
  return credit(ledger, ({ payableMinor, creditedMinor }) => {
    const own = payableMinor - creditedMinor
    const upTo = (weight: number) => (rest === 0 ? 0 : fractionOf(amountMinor, weight, rest))
    const part = upTo(before + own) - upTo(before)
    before += own
    return { units: 0, amountMinor: isAll ? own : part }
  })
}

/** The parts that are something, each with the tax between what was credited before and what is by then. */
function credit(ledger: Ledger, partOf: (share: Share) => { units: number; amountMinor: number }): Credit {
  const parts = ledger.shares.map((share): CreditPart => {
    const { units, amountMinor } = partOf(share)
    const { creditedMinor, ratePpm, taxCategory } = share
    const taxMinor = taxUpTo(share, creditedMinor + amountMinor) - taxUpTo(share, creditedMinor)
    return { ...keyOf(share), units, amountMinor, taxMinor, ratePpm, taxCategory }
  })
  const shares = ledger.shares.map((share, index) => ({
    ...share,
    creditedMinor: share.creditedMinor + (parts[index]?.amountMinor ?? 0)
  }))
  return {
    amountMinor: creditedMinor({ ...ledger, shares }) - creditedMinor(ledger),
    parts: parts.filter(part => part.units > 0 || part.amountMinor > 0)
  }
}

const taxUpTo = ({ payableMinor, taxMinor }: Share, amountMinor: number): number =>
  payableMinor === 0 ? 0 : fractionOf(taxMinor, amountMinor, payableMinor)

/**
 * What of a credit goes back to the buyer: what they have paid beyond what they owe by then. Who has paid a part owes less,
 * and gets back what that is too much; what was paid twice is another matter.
 */
export function backMinor(
  credit: Pick<Credit, 'amountMinor'>,
  { owedMinor, heldMinor }: { owedMinor: number; heldMinor: number }
): number {
  return Math.min(credit.amountMinor, Math.max(0, heldMinor - owedMinor))
}
