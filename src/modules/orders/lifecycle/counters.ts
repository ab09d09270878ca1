import { lineUnknown, unitsShort } from '../errors.ts'

/**
 * Units of a line by progress: 0 <= returned <= fulfilled, 0 <= refunded <= fulfilled, canceled + fulfilled
 * <= ordered.
 */
export type LineCounters = {
  readonly line: number
  readonly ordered: number
  readonly canceled: number
  readonly fulfilled: number
  readonly returned: number
  /** Shipped units that were refunded, returned or not. */
  readonly refunded: number
  /** False for digital goods and services. */
  readonly requiresShipping: boolean
}
export type LineUnits = { readonly line: number; readonly quantity: number }

/** The sum of the units of one line. */
export const quantityOf = (units: readonly LineUnits[], { line }: Pick<LineCounters, 'line'>): number =>
  units.reduce((sum, each) => (each.line === line ? sum + each.quantity : sum), 0)

/** Units of a line to which each action can still be applied. */
export const remainingUnits = {
  cancel: ({ ordered, canceled, fulfilled }: LineCounters) => ordered - canceled - fulfilled,
  fulfil: ({ ordered, canceled, fulfilled }: LineCounters) => ordered - canceled - fulfilled,
  return: ({ fulfilled, returned }: LineCounters) => fulfilled - returned,
  refund: ({ fulfilled, refunded }: LineCounters) => fulfilled - refunded
}
const COUNTERS = { cancel: 'canceled', fulfil: 'fulfilled', return: 'returned', refund: 'refunded' } as const

/**
 * Returns the lines with these units counted. @throws `ORDER_LINE_UNKNOWN`, `ORDER_UNITS_SHORT`, naming every
 * line
 */
export function countUnits(
  lines: readonly LineCounters[],
  kind: keyof typeof remainingUnits,
  units: readonly LineUnits[]
): LineCounters[] {
  const requested = new Map<number, number>()
  for (const { line, quantity } of units) requested.set(line, (requested.get(line) ?? 0) + quantity)
  const known = new Set(lines.map(({ line }) => line))
  const unknown = [...requested.keys()].filter(line => !known.has(line))
  if (unknown.length > 0) throw lineUnknown({ details: { lines: unknown } })
  const short = lines
    .map(line => ({
      line: line.line,
      requested: requested.get(line.line) ?? 0,
      available: remainingUnits[kind](line)
    }))
    .filter(({ requested, available }) => requested > available)
  if (short.length > 0) throw unitsShort({ details: { items: short } })
  const counter = COUNTERS[kind]
  return lines.map(line => ({ ...line, [counter]: line[counter] + (requested.get(line.line) ?? 0) }))
}
