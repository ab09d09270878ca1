import { multiplyFractionWithRemainder } from '../../../kernel/money.ts'
import { sumBy } from '../../../kernel/sum-by.ts'

/**
 * Splits an amount by weights into minor units that add up to it (largest remainder method). Shares are
 * rounded down; the rest goes, one unit each, to those with the largest remainder, and to the first of
 * equal ones. With zero total weight nothing is split.
 */
export function allocateAmountByWeight(amountMinor: number, weights: readonly number[]): number[] {
  const sum = sumBy(weights, weight => weight)
  if (sum === 0) return weights.map(() => 0)
  const shares = weights.map(weight => multiplyFractionWithRemainder(amountMinor, weight, sum))
  const parts = shares.map(share => share.whole)
  const left = amountMinor - sumBy(parts, part => part)
  if (left === 0) return parts
  const byLoss = shares
    .map(({ rest }, index) => ({ rest, index }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index)
  for (const { index } of byLoss.slice(0, left)) parts[index] = (parts[index] ?? 0) + 1
  return parts
}
