import { multiplyFractionRounded } from '../../../kernel/money.ts'
import type { ChangedPaymentAccountState } from '../../payments/index.ts'
import { type OrderPriceShare, type OrderPriceShareKey, orderPriceShareKeyOf } from './shares.ts'

/** The credited part of a share. The amount includes its tax. */
export type OrderCreditPart = OrderPriceShareKey & {
  /** Credited units of a line; 0 for other shares. */
  readonly units: number
  readonly amountMinor: number
  readonly taxMinor: number
  readonly ratePpm: number | null
  readonly taxCategory: string | null
}
export type OrderCredit = { readonly amountMinor: number; readonly parts: readonly OrderCreditPart[] }

/** The total of an order and its shares, with the amounts credited so far. */
export type OrderPriceWithCredits = {
  readonly totalMinor: number
  readonly shares: readonly OrderPriceShare[]
}

const sum = <T>(list: readonly T[], of: (each: T) => number) => list.reduce((all, each) => all + of(each), 0)

/**
 * The amount credited so far. It is capped at the total, because a total that was rounded down is less than
 * its shares.
 */
export const totalCreditedMinor = ({ totalMinor, shares }: OrderPriceWithCredits): number =>
  Math.min(
    totalMinor,
    sum(shares, ({ creditedMinor }) => creditedMinor)
  )

/**
 * Credits units of each line: the price of all units credited by then, minus the price of those credited
 * before. So the parts add up to the line in any split and order. The last unit of a group also credits the
 * rest of its delivery, and the last unit of the order credits the cash rounding.
 */
export function calculateCreditForUnits(
  balance: OrderPriceWithCredits,
  units: ReadonlyMap<number, number>
): OrderCredit {
  const after = (share: OrderPriceShare) =>
    share.creditedUnits + (share.line === undefined ? 0 : (units.get(share.line) ?? 0))
  const open = balance.shares.filter(share => share.line !== undefined && after(share) < share.quantity)
  const isFullyCredited = ({ group }: OrderPriceShare) =>
    !open.some(line => group === undefined || line.group === group)
  return credit(balance, share => {
    const { line, quantity, payableMinor, creditedMinor, creditedUnits } = share
    const rest = payableMinor - creditedMinor
    if (line === undefined) return { units: 0, amountMinor: isFullyCredited(share) ? rest : 0 }
    const upTo = (count: number) => multiplyFractionRounded(payableMinor, count, quantity)
    const price = upTo(after(share)) - upTo(creditedUnits)
    return { units: after(share) - creditedUnits, amountMinor: Math.min(price, rest) }
  })
}

/**
 * Credits an amount, split over the shares in proportion to what is left of each, with its tax. The amount is
 * at most what is left.
 */
export function calculateCreditForAmount(balance: OrderPriceWithCredits, amountMinor: number): OrderCredit {
  const rest = sum(balance.shares, share => share.payableMinor - share.creditedMinor)
  const isAll = amountMinor === balance.totalMinor - totalCreditedMinor(balance)
  let before = 0
  return credit(balance, ({ payableMinor, creditedMinor }) => {
    const own = payableMinor - creditedMinor
    const upTo = (weight: number) => (rest === 0 ? 0 : multiplyFractionRounded(amountMinor, weight, rest))
    const part = upTo(before + own) - upTo(before)
    before += own
    return { units: 0, amountMinor: isAll ? own : part }
  })
}

/**
 * Builds a credit from its parts and drops empty ones. The tax of a part is the difference of the tax
 * credited by then and before.
 */
function credit(
  balance: OrderPriceWithCredits,
  partOf: (share: OrderPriceShare) => { units: number; amountMinor: number }
): OrderCredit {
  const parts = balance.shares.map((share): OrderCreditPart => {
    const { units, amountMinor } = partOf(share)
    const { creditedMinor, ratePpm, taxCategory } = share
    const taxMinor = taxUpTo(share, creditedMinor + amountMinor) - taxUpTo(share, creditedMinor)
    return { ...orderPriceShareKeyOf(share), units, amountMinor, taxMinor, ratePpm, taxCategory }
  })
  const shares = balance.shares.map((share, index) => ({
    ...share,
    creditedMinor: share.creditedMinor + (parts[index]?.amountMinor ?? 0)
  }))
  return {
    amountMinor: totalCreditedMinor({ ...balance, shares }) - totalCreditedMinor(balance),
    parts: parts.filter(part => part.units > 0 || part.amountMinor > 0)
  }
}

const taxUpTo = ({ payableMinor, taxMinor }: OrderPriceShare, amountMinor: number): number =>
  payableMinor === 0 ? 0 : multiplyFractionRounded(taxMinor, amountMinor, payableMinor)

/**
 * The captured money that is neither refunded nor being refunded. A refund whose response was lost counts
 * twice until it is settled, and a callback can report a refund before its capture. So the amount is at
 * least zero.
 */
export const unrefundedCapturedMinor = ({
  captured,
  refunded,
  refunding
}: Pick<ChangedPaymentAccountState, 'captured' | 'refunded' | 'refunding'>): number =>
  Math.max(0, captured - refunded - refunding)

/**
 * Returns the part of a credit to refund: the amount paid minus the amount still owed. It is zero if the
 * buyer owes more than they paid, and never exceeds the credit, so a double payment is not refunded here.
 */
export function refundablePartOfCredit(
  credit: Pick<OrderCredit, 'amountMinor'>,
  { owedMinor, heldMinor }: { owedMinor: number; heldMinor: number }
): number {
  return Math.min(credit.amountMinor, Math.max(0, heldMinor - owedMinor))
}
