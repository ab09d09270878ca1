import { type OrderLineCounters, type OrderLineQuantity, sumUnitsOfOrderLine } from '../lifecycle/counters.ts'

/**
 * Returns why a shipment of these units cannot be voided, or `undefined` if it can. Digital units are
 * delivered immediately. Each line must keep at least as many shipped units as were returned or refunded.
 */
export function findShipmentVoidRefusalReason(
  lines: readonly OrderLineCounters[],
  units: readonly OrderLineQuantity[]
): 'digital' | 'returned' | 'refunded' | undefined {
  const of = lines.filter(line => sumUnitsOfOrderLine(units, line) > 0)
  const isLessThan = (counter: 'returned' | 'refunded') =>
    of.some(line => line.fulfilled - sumUnitsOfOrderLine(units, line) < line[counter])
  if (of.some(({ requiresShipping }) => !requiresShipping)) return 'digital'
  if (isLessThan('returned')) return 'returned'
  return isLessThan('refunded') ? 'refunded' : undefined
}

/** Returns the lines after reducing their shipped units by these units. */
export const reduceShippedUnitsOfLines = (
  lines: readonly OrderLineCounters[],
  units: readonly OrderLineQuantity[]
): OrderLineCounters[] =>
  lines.map(line => ({ ...line, fulfilled: line.fulfilled - sumUnitsOfOrderLine(units, line) }))
