import type { Transaction } from '../../../platform/postgres/database.ts'
import type { RowOf } from '../../../platform/postgres/statement.ts'
import type {
  Crossing,
  Decided,
  Item,
  Level,
  Moved,
  Movement,
  Operation,
  Outcome,
  Reservation,
  Stock,
  Take,
  Written
} from '../stock/state.ts'
import * as repository from './repository.ts'

/** More is promised than is there, and these orders stand on it. */
export type Shortfall = {
  readonly itemId: string
  readonly locationId: string
  readonly onHand: number
  readonly reserved: number
  readonly owners: readonly string[]
}
/** Units that a paid order took from one that is not paid. */
export type Loss = Extract<Outcome, { kind: 'took' }>['lost'][number]
type Read = { stock: Stock; unlocked: ReadonlySet<string> }

/** The items whose levels the operation may change, as far as it says. */
export function itemsOf(operation: Operation): readonly string[] {
  switch (operation.kind) {
    case 'reserve':
      return operation.needs.flatMap(need => need.parts.map(part => part.itemId))
    case 'drop':
    case 'expire':
      return operation.itemIds
    case 'count':
    case 'adjust':
      return operation.lines.map(line => line.itemId)
    // What it has moved is read behind the lock of all requests, and locked in the next batch.
    case 'unship':
      return []
    default:
      return operation.parts?.map(part => part.itemId) ?? []
  }
}

/** Whose reservations the operation may change. */
function ownersOf(operation: Operation): readonly string[] {
  if (!('owner' in operation)) return []
  const victims = operation.kind === 'take' ? operation.victims.map(({ owner }) => owner) : []
  return [operation.owner, ...victims]
}

/** Where facts may be written to: a level that does not exist yet is made. */
function placesOf(operations: readonly Operation[]): { itemIds: string[]; locationIds: string[] } {
  const places = operations.flatMap((operation): readonly { itemId: string; locationId: string }[] => {
    if (operation.kind === 'count' || operation.kind === 'adjust') return operation.lines
    if (operation.kind !== 'ship' && operation.kind !== 'return') return []
    return (operation.parts ?? []).map(({ itemId }) => ({ itemId, locationId: operation.locationId ?? '' }))
  })
  return {
    itemIds: places.map(({ itemId }) => itemId),
    locationIds: places.map(({ locationId }) => locationId)
  }
}

type ReadOptions = { items: ReadonlySet<string>; isWaiting: boolean; kitsOf: Stock['kitsOf'] }

/**
 * Locks what the operations are about and reads it, in one round trip. Reservations are read behind the levels' locks, so
 * whatever others did to them is seen. Without waiting, items whose levels somebody holds are `unlocked`.
 */
export async function readStock(
  tx: Transaction,
  operations: readonly Operation[],
  { items, isWaiting, kitsOf }: ReadOptions
): Promise<Read> {
  const itemIds = [...items]
  const owners = [...new Set(operations.flatMap(ownersOf))]
  const places = placesOf(operations)
  const shipments = operations.flatMap(each => (each.kind === 'unship' ? [each.shipment] : []))
  const hasFacts = places.itemIds.length > 0
  const [made, levels, itemRows, rows, moved, home] = await Promise.all([
    hasFacts ? tx.rows(repository.insertLevels, places) : [],
    tx.rows(isWaiting ? repository.lockLevels : repository.lockFreeLevels, { itemIds }),
    tx.rows(repository.listItems, { itemIds }),
    tx.rows(repository.lockReservations, { owners }),
    shipments.length > 0 ? tx.rows(repository.listShipped, { shipments }) : [],
    hasFacts ? tx.first(repository.findHome) : undefined
  ])
  const unlocked = new Set(levels.filter(level => level.seq === null).map(level => level.item_id))
  const locked = new Map<string, Level[]>()
  for (const itemId of itemIds) if (!unlocked.has(itemId)) locked.set(itemId, [])
  for (const row of levels) locked.get(row.item_id)?.push(levelOf(row))
  const stock: Stock = {
    items: new Map(itemRows.map(row => [row.id, itemOf(row)])),
    levels: locked,
    reservations: Map.groupBy(rows.map(reservationOf), ({ owner }) => owner),
    shipped: Map.groupBy(moved.map(movedOf), ({ operation }) => operation),
    kitsOf,
    home: home?.id ?? '',
    opened: openedOf(made, locked)
  }
  return { stock, unlocked }
}

/** Those that have no other levels than these, which were made just now. */
function openedOf(made: readonly { item_id: string }[], locked: ReadonlyMap<string, readonly Level[]>) {
  const byItem = Map.groupBy(made, ({ item_id }) => item_id)
  return new Set([...byItem].filter(([id, rows]) => rows.length === locked.get(id)?.length).map(([id]) => id))
}

type Rows = {
  level: RowOf<typeof repository.lockLevels>
  item: RowOf<typeof repository.listItems>
  reservation: RowOf<typeof repository.lockReservations>
  moved: RowOf<typeof repository.listShipped>
}

export const levelOf = (row: Rows['level']): Level => ({
  itemId: row.item_id,
  locationId: row.location_id,
  priority: row.priority,
  active: row.active,
  onHand: row.on_hand ?? 0,
  reserved: row.reserved ?? 0,
  safety: row.safety ?? 0,
  seq: row.seq ?? 0,
  sourceVersion: row.source_version
})
export const itemOf = (row: Rows['item']): Item => ({
  id: row.id,
  tracked: row.tracked,
  backorder: row.backorder,
  backorderLimit: row.backorder_limit,
  lowThreshold: row.low_threshold
})
const reservationOf = (row: Rows['reservation']): Reservation => ({
  owner: row.owner,
  itemId: row.item_id,
  locationId: row.location_id,
  quantity: row.quantity ?? 0,
  fulfilled: row.fulfilled ?? 0,
  state: (row.state ?? 'closed') as Reservation['state'],
  isDue: row.is_due ?? false,
  isFree: row.state !== null
})

const movedOf = (row: Rows['moved']): Moved => ({
  itemId: row.item_id,
  locationId: row.location_id,
  kind: row.kind,
  onHandDelta: row.on_hand_delta,
  reservedDelta: row.reserved_delta,
  operation: row.operation,
  owner: row.owner
})

/** Whether the decision changes anything, or tells of a level that was made for it. */
export const writesOf = ({ levels, inserted, updated, crossings }: Decided): number =>
  levels.length + inserted.length + updated.length + crossings.length

/** Sends all that was decided. Nothing is waited for in between, so it may leave with the commit. */
export async function write(
  tx: Transaction,
  { levels, inserted, updated, movements }: Pick<Decided, 'levels' | 'inserted' | 'updated' | 'movements'>
): Promise<void> {
  await Promise.all([
    levels.length > 0 && tx.run(repository.updateLevels, levelColumns(levels)),
    inserted.length > 0 && tx.run(repository.insertReservations, reservationColumns(inserted)),
    updated.length > 0 && tx.run(repository.updateReservations, reservationColumns(updated)),
    movements.length > 0 && tx.run(repository.insertMovements, movementColumns(movements))
  ])
}

const levelColumns = (levels: readonly Level[]) => ({
  itemIds: levels.map(each => each.itemId),
  locationIds: levels.map(each => each.locationId),
  onHand: levels.map(each => each.onHand),
  reserved: levels.map(each => each.reserved),
  safety: levels.map(each => each.safety),
  seqs: levels.map(each => each.seq),
  sourceVersions: levels.map(each => each.sourceVersion)
})
const reservationColumns = (rows: readonly Written[]) => ({
  owners: rows.map(each => each.owner),
  itemIds: rows.map(each => each.itemId),
  locationIds: rows.map(each => each.locationId),
  quantities: rows.map(each => each.quantity),
  fulfilled: rows.map(each => each.fulfilled),
  states: rows.map(each => each.state),
  seconds: rows.map(each => each.seconds)
})
const movementColumns = (movements: readonly Movement[]) => ({
  itemIds: movements.map(each => each.itemId),
  locationIds: movements.map(each => each.locationId),
  seqs: movements.map(each => each.seq),
  kinds: movements.map(each => each.kind),
  onHandDeltas: movements.map(each => each.onHandDelta),
  reservedDeltas: movements.map(each => each.reservedDelta),
  onHandAfter: movements.map(each => each.onHandAfter),
  reservedAfter: movements.map(each => each.reservedAfter),
  allowedAfter: movements.map(each => each.allowedAfter),
  operations: movements.map(each => each.operation),
  owners: movements.map(each => each.owner ?? ''),
  actors: movements.map(each => each.actor ?? ''),
  reasons: movements.map(each => each.reason ?? '')
})

/** The orders that stand on what is not there, of each level that was left so. */
export async function findShortfalls(
  tx: Transaction,
  { shortfalls, levels }: Pick<Decided, 'shortfalls' | 'levels'>
): Promise<Shortfall[]> {
  if (shortfalls.length === 0) return []
  const rows = await tx.rows(repository.listOwners, {
    itemIds: shortfalls.map(({ itemId }) => itemId),
    locationIds: shortfalls.map(({ locationId }) => locationId)
  })
  const ownersAt = Map.groupBy(rows, row => keyOf(row.item_id, row.location_id))
  const levelAt = new Map(levels.map(level => [keyOf(level.itemId, level.locationId), level]))
  return shortfalls.map(({ itemId, locationId }) => {
    const key = keyOf(itemId, locationId)
    const { onHand = 0, reserved = 0 } = levelAt.get(key) ?? {}
    const owners = (ownersAt.get(key) ?? []).map(({ owner }) => owner)
    return { itemId, locationId, onHand, reserved, owners }
  })
}

const keyOf = (itemId: string, locationId: string) => `${itemId} ${locationId}`

/** What others are told of a batch, in its transaction; and this process, when it is committed. */
export type Tell = {
  changed(variantIds: readonly string[]): void
  crossed(tx: Transaction, crossing: Crossing): void
  short(tx: Transaction, shortfall: Shortfall): void
  /** What became of a take. */
  taken(tx: Transaction, take: Take, isTaken: boolean): void
  lost(tx: Transaction, loss: Loss): void
}
