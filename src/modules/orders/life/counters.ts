import { lineUnknown, unitsShort } from '../errors.ts'

/** How many of a line have come how far: 0 <= returned <= fulfilled, 0 <= refunded <= fulfilled, canceled + fulfilled <= ordered. */
export type LineCounters = {
  readonly line: number
  readonly ordered: number
  readonly canceled: number
  readonly fulfilled: number
  readonly returned: number
  /** Sent, and paid back all the same, whether or not they were returned. */
  readonly refunded: number
  /** False: there is nothing to be carried. */
  readonly requiresShipping: boolean
}
export type Units = { readonly line: number; readonly quantity: number }

/** How many of these units are of a line. */
export const quantityOf = (units: readonly Units[], { line }: Pick<LineCounters, 'line'>): number =>
  units.reduce((sum, each) => (each.line === line ? sum + each.quantity : sum), 0)

/** How many of a line something can still be done to. */
export const left = {
  cancel: ({ ordered, canceled, fulfilled }: LineCounters) => ordered - canceled - fulfilled,
  fulfil: ({ ordered, canceled, fulfilled }: LineCounters) => ordered - canceled - fulfilled,
  return: ({ fulfilled, returned }: LineCounters) => fulfilled - returned,
  refund: ({ fulfilled, refunded }: LineCounters) => fulfilled - refunded
}
const COUNTERS = { cancel: 'canceled', fulfil: 'fulfilled', return: 'returned', refund: 'refunded' } as const

/** The lines after that was done to some units. @throws `ORDER_LINE_UNKNOWN`, `ORDER_UNITS_SHORT`, naming every line */
export function count(
  lines: readonly LineCounters[],
  kind: keyof typeof left,
  units: readonly Units[]
): LineCounters[] {
  const wanted = new Map<number, number>()
  for (const { line, quantity } of units) wanted.set(line, (wanted.get(line) ?? 0) + quantity)
  const known = new Set(lines.map(({ line }) => line))
  const unknown = [...wanted.keys()].filter(line => !known.has(line))
  if (unknown.length > 0) throw lineUnknown({ details: { lines: unknown } })
  const short = lines
    .map(line => ({ line: line.line, requested: wanted.get(line.line) ?? 0, available: left[kind](line) }))
    .filter(({ requested, available }) => requested > available)
  if (short.length > 0) throw unitsShort({ details: { items: short } })
  const counter = COUNTERS[kind]
  return lines.map(line => ({ ...line, [counter]: line[counter] + (wanted.get(line.line) ?? 0) }))
}
