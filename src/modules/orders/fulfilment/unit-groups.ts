import { sumQuantitiesByVariant } from '../../../kernel/variant-quantities.ts'
import type { StockRequestLine } from '../../inventory/index.ts'
import { type OrderLineQuantity, sumUnitsOfOrderLine } from '../lifecycle/counters.ts'
import type { OrderUnderLock } from '../lifecycle/locked-order.ts'

/** Groups the units that need shipping by delivery group. */
export function shippableUnitsByDeliveryGroup(
  { lines }: OrderUnderLock,
  units: readonly OrderLineQuantity[]
) {
  const shippable = lines
    .filter(({ requiresShipping }) => requiresShipping)
    .map(line => ({ group: line.group, line: line.line, quantity: sumUnitsOfOrderLine(units, line) }))
    .filter(({ quantity }) => quantity > 0)
  return [...Map.groupBy(shippable, ({ group }) => group)].map(([key, of]) => ({
    key,
    lines: of.map(({ line, quantity }) => ({ line, quantity }))
  }))
}

/** Sums units by variant, as the inventory needs them. */
export const stockLinesOfUnits = (
  { lines }: OrderUnderLock,
  units: readonly OrderLineQuantity[]
): StockRequestLine[] =>
  sumStockLinesByVariant(
    units.map(({ line, quantity }) => {
      const variantId = lines.find(each => each.line === line)?.variantId
      if (variantId === undefined) throw new Error(`the order has no line ${line}`)
      return { variantId, quantity }
    })
  )

/** Sums lines by variant. */
export const sumStockLinesByVariant = (lines: readonly StockRequestLine[]): StockRequestLine[] =>
  [...sumQuantitiesByVariant(lines)].map(([variantId, quantity]) => ({ variantId, quantity }))
