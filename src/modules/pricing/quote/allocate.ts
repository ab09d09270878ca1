import { divide } from '../../../kernel/money.ts'
import { sumOf } from './components.ts'

/**
 * Splits an amount by weights into whole minor units that add up to it: everybody gets their share rounded down, and what is
 * left goes, one unit each, to those who lost most by rounding; of equal ones to the first. Nothing is split by no weight.
 */
export function allocate(amountMinor: number, weights: readonly number[]): number[] {
  const sum = sumOf(weights, weight => weight)
  if (sum === 0) return weights.map(() => 0)
  const shares = weights.map(weight => divide(amountMinor, weight, sum))
  const parts = shares.map(share => share.whole)
  const left = amountMinor - sumOf(parts, part => part)
  if (left === 0) return parts
  const byLoss = shares
    .map(({ rest }, index) => ({ rest, index }))
    .sort((a, b) => b.rest - a.rest || a.index - b.index)
  for (const { index } of byLoss.slice(0, left)) parts[index] = (parts[index] ?? 0) + 1
  return parts
}
