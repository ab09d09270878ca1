import type { ShopGoods } from './goods.ts'
import type { Operation } from './operations.ts'
import { shipmentOf } from './plans.ts'

export type LevelRow = { variant_id: string; location: string; on_hand: number }

/** Returns a sentence for each level whose units on hand are not: counted + adjusted - shipped + returned. */
export function brokenLevels(
  { counts, locations }: Pick<ShopGoods, 'counts' | 'locations'>,
  operations: readonly Operation[],
  levels: readonly LevelRow[]
): string[] {
  const expected = new Map<string, number>()
  const placeOf = (variantId = '', location: string = locations[0]) => `${variantId} at ${location}`
  const add = (place: string, units: number) => expected.set(place, (expected.get(place) ?? 0) + units)
  for (const { variantId, location, onHand } of counts) expected.set(placeOf(variantId, location), onHand)
  for (const operation of operations.filter(({ state }) => state === 'acknowledged')) {
    const { kind, about } = operation
    const place = placeOf(about.variantId, about.location)
    if (kind === 'count stock') expected.set(place, about.amount ?? 0)
    if (kind === 'adjust stock') add(place, about.amount ?? 0)
    for (const { variantId, units } of movedBy(operation)) add(placeOf(variantId), units)
  }
  const known = new Map(levels.map(row => [placeOf(row.variant_id, row.location), row.on_hand]))
  return [...expected].flatMap(([place, units]) =>
    known.get(place) === units
      ? []
      : [`${place}: ${units} units were expected by the operations, and ${known.get(place)} are on hand`]
  )
}

type Units = readonly { line: number; quantity: number }[]

/** Returns the units that an operation moved, read from the order in its response. */
function movedBy(operation: Operation): { variantId: string; units: number }[] {
  const { kind, request, about, answer } = operation
  const of = (lines: Units, sign: number) =>
    lines.map(({ line, quantity }) => ({ variantId: variantOf(answer, line), units: sign * quantity }))
  if (kind === 'ship') return of(shipmentOf(operation)?.lines ?? [], -1)
  if (kind === 'void shipment') return of((about.shipment && shipmentOf(about.shipment)?.lines) ?? [], 1)
  return kind === 'return' ? of((request.body as { lines: Units }).lines, 1) : []
}

const variantOf = (order: Operation['answer'], line: number): string =>
  order?.items?.find(({ id }: { id: number }) => id === line)?.variant_id
