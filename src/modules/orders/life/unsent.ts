import { type LineCounters, quantityOf, type Units } from './counters.ts'

/**
 * Why these units of a parcel cannot be as if they had never left: what needs no carrier is there at once, and of a line as many have
 * left as came back, or were paid back.
 */
export function refusalOfUnsent(
  lines: readonly LineCounters[],
  units: readonly Units[]
): 'digital' | 'returned' | 'refunded' | undefined {
  const of = lines.filter(line => quantityOf(units, line) > 0)
  const isLessThan = (counter: 'returned' | 'refunded') =>
    of.some(line => line.fulfilled - quantityOf(units, line) < line[counter])
  if (of.some(({ requiresShipping }) => !requiresShipping)) return 'digital'
  if (isLessThan('returned')) return 'returned'
  return isLessThan('refunded') ? 'refunded' : undefined
}

/** The lines when these units have not left. */
export const unsent = (lines: readonly LineCounters[], units: readonly Units[]): LineCounters[] =>
  lines.map(line => ({ ...line, fulfilled: line.fulfilled - quantityOf(units, line) }))
