import { lineUnitsInsufficientError, orderLineUnknownError } from '../errors.ts'

/**
 * Units of a line by progress: 0 <= returned <= fulfilled, 0 <= refunded <= fulfilled, canceled + fulfilled
 * <= ordered.
 */
export type OrderLineCounters = {
  readonly line: number
  readonly ordered: number
  readonly canceled: number
  readonly fulfilled: number
  readonly returned: number
  /** Shipped units that were refunded, whether they were returned or not. */
  readonly refunded: number
  /** Whether the line needs shipping. False for digital goods and services. */
  readonly requiresShipping: boolean
}
export type OrderLineQuantity = { readonly line: number; readonly quantity: number }

/** The sum of the units of one line. */
export const sumUnitsOfOrderLine = (
  units: readonly OrderLineQuantity[],
  { line }: Pick<OrderLineCounters, 'line'>
): number => units.reduce((sum, each) => (each.line === line ? sum + each.quantity : sum), 0)

/** Adds up the units of each line. */
export function unitsByOrderLine(units: readonly OrderLineQuantity[]): Map<number, number> {
  const sums = new Map<number, number>()
  for (const { line, quantity } of units) sums.set(line, (sums.get(line) ?? 0) + quantity)
  return sums
}

/** Units of a line to which each action can still be applied. */
export const remainingOrderLineUnitsByAction = {
  cancel: ({ ordered, canceled, fulfilled }: OrderLineCounters) => ordered - canceled - fulfilled,
  fulfil: ({ ordered, canceled, fulfilled }: OrderLineCounters) => ordered - canceled - fulfilled,
  return: ({ fulfilled, returned }: OrderLineCounters) => fulfilled - returned,
  refund: ({ fulfilled, refunded }: OrderLineCounters) => fulfilled - refunded
}
const COUNTERS = { cancel: 'canceled', fulfil: 'fulfilled', return: 'returned', refund: 'refunded' } as const

/**
 * Returns the lines after adding these units to a counter. @throws `ORDER_LINE_UNKNOWN`, `ORDER_UNITS_SHORT`,
 * naming every line
 */
export function addToOrderLineCounters(
  lines: readonly OrderLineCounters[],
  kind: keyof typeof remainingOrderLineUnitsByAction,
  units: readonly OrderLineQuantity[]
): OrderLineCounters[] {
  const requested = unitsByOrderLine(units)
  const known = new Set(lines.map(({ line }) => line))
  const unknown = [...requested.keys()].filter(line => !known.has(line))
  if (unknown.length > 0) throw orderLineUnknownError({ details: { lines: unknown } })
  const short = lines
    .map(line => ({
      line: line.line,
      requested: requested.get(line.line) ?? 0,
      available: remainingOrderLineUnitsByAction[kind](line)
    }))
    .filter(({ requested, available }) => requested > available)
  if (short.length > 0) throw lineUnitsInsufficientError({ details: { items: short } })
  const counter = COUNTERS[kind]
  return lines.map(line => ({ ...line, [counter]: line[counter] + (requested.get(line.line) ?? 0) }))
}
