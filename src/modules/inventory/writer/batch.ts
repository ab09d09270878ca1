import type { Transaction } from '../../../platform/postgres/database.ts'
import type { RowOf } from '../../../platform/postgres/statement.ts'
import type {
  InventoryItemStockPolicy,
  LockedStockState,
  ShipmentStockMovement,
  StockBatchDecision,
  StockLevel,
  StockMovement,
  StockOperation,
  StockOperationOutcome,
  StockReservation,
  StockReservationValues,
  StockStatusChange,
  TakeContestedStockOperation
} from '../decisions/state.ts'
import * as repository from './repository.ts'

/** A level with more reserved than on hand, and the orders concerned. */
export type StockLevelShortfall = {
  readonly itemId: string
  readonly locationId: string
  readonly onHand: number
  readonly reserved: number
  readonly owners: readonly string[]
}
/** Units that a paid order took from an unpaid order. */
export type UnitsTakenFromUnpaidOrder = Extract<StockOperationOutcome, { kind: 'took' }>['lost'][number]
type StockRead = { stock: LockedStockState; unlocked: ReadonlySet<string> }

/** Returns the items whose levels the operation names. */
export function itemIdsOfStockOperation(operation: StockOperation): readonly string[] {
  switch (operation.kind) {
    case 'reserve':
      return operation.needs.flatMap(need => need.parts.map(part => part.itemId))
    case 'drop':
    case 'expire':
      return operation.itemIds
    case 'count':
    case 'adjust':
      return operation.lines.map(line => line.itemId)
    // The movements of the shipment are read after all requests are locked; their items are locked in the
    // next batch.
    case 'unship':
      return []
    default:
      return operation.parts?.map(part => part.itemId) ?? []
  }
}

/** Returns the owners whose reservations the operation may change. */
function ownersOf(operation: StockOperation): readonly string[] {
  if (!('owner' in operation)) return []
  const victims = operation.kind === 'take' ? operation.victims.map(({ owner }) => owner) : []
  return [operation.owner, ...victims]
}

/** Returns the levels that an operation may write to; missing ones are created. */
function levelsToCreate(operations: readonly StockOperation[]): { itemIds: string[]; locationIds: string[] } {
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

type ReadOptions = { items: ReadonlySet<string>; isWaiting: boolean; kitsOf: LockedStockState['kitsOf'] }

/**
 * Locks and reads the stock of the operations in one round trip. Reservations are read after the levels
 * are locked, so changes by others are seen. Without waiting, items that another transaction locked are
 * `unlocked`.
 */
export async function lockAndReadStock(
  tx: Transaction,
  operations: readonly StockOperation[],
  { items, isWaiting, kitsOf }: ReadOptions
): Promise<StockRead> {
  const itemIds = [...items]
  const owners = [...new Set(operations.flatMap(ownersOf))]
  const places = levelsToCreate(operations)
  const shipments = operations.flatMap(each => (each.kind === 'unship' ? [each.shipment] : []))
  const hasFacts = places.itemIds.length > 0
  const [made, levels, rows, moved, home] = await Promise.all([
    hasFacts ? tx.rows(repository.insertMissingStockLevels, places) : [],
    tx.rows(isWaiting ? repository.lockStockLevels : repository.lockStockLevelsWithoutWaiting, { itemIds }),
    tx.rows(repository.lockReservations, { owners }),
    shipments.length > 0 ? tx.rows(repository.listShipmentStockMovements, { shipments }) : [],
    hasFacts ? tx.first(repository.findDefaultLocation) : undefined
  ])
  const unlocked = new Set(levels.filter(level => level.seq === null).map(level => level.item_id))
  const locked = new Map<string, StockLevel[]>()
  for (const itemId of itemIds) if (!unlocked.has(itemId)) locked.set(itemId, [])
  for (const row of levels) locked.get(row.item_id)?.push(stockLevelFromRow(row))
  const stock: LockedStockState = {
    items: await listPolicies(tx, itemIds, levels),
    levels: locked,
    reservations: Map.groupBy(rows.map(reservationOf), ({ owner }) => owner),
    shipped: Map.groupBy(moved.map(shipmentMovementOf), ({ operation }) => operation),
    kitsOf,
    home: home?.id ?? '',
    newItems: findNewItems(made, locked)
  }
  return { stock, unlocked }
}

/** Returns the policies of these items. Only items without a level need a statement. */
async function listPolicies(
  tx: Transaction,
  itemIds: readonly string[],
  levels: readonly Rows['level'][]
): Promise<ReadonlyMap<string, InventoryItemStockPolicy>> {
  const known = new Map(levels.map(row => [row.item_id, stockPolicyFromRow({ ...row, id: row.item_id })]))
  const others = itemIds.filter(id => !known.has(id))
  if (others.length === 0) return known
  const rows = await tx.rows(repository.listStockPolicies, { itemIds: others })
  return new Map([...known, ...rows.map(row => [row.id, stockPolicyFromRow(row)] as const)])
}

/** Returns the items whose levels were all created just now. */
function findNewItems(
  made: readonly { item_id: string }[],
  locked: ReadonlyMap<string, readonly StockLevel[]>
) {
  const byItem = Map.groupBy(made, ({ item_id }) => item_id)
  return new Set([...byItem].filter(([id, rows]) => rows.length === locked.get(id)?.length).map(([id]) => id))
}

type Rows = {
  level: RowOf<typeof repository.lockStockLevels>
  item: RowOf<typeof repository.listStockPolicies>
  reservation: RowOf<typeof repository.lockReservations>
  moved: RowOf<typeof repository.listShipmentStockMovements>
}

export const stockLevelFromRow = (row: Rows['level']): StockLevel => ({
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
export const stockPolicyFromRow = (row: Rows['item']): InventoryItemStockPolicy => ({
  id: row.id,
  tracked: row.tracked,
  backorder: row.backorder,
  backorderLimit: row.backorder_limit,
  lowThreshold: row.low_threshold
})
const reservationOf = (row: Rows['reservation']): StockReservation => ({
  owner: row.owner,
  itemId: row.item_id,
  locationId: row.location_id,
  quantity: row.quantity ?? 0,
  fulfilled: row.fulfilled ?? 0,
  state: (row.state ?? 'closed') as StockReservation['state'],
  isExpired: row.is_due ?? false,
  isUnlocked: row.state !== null
})

const shipmentMovementOf = (row: Rows['moved']): ShipmentStockMovement => ({
  itemId: row.item_id,
  locationId: row.location_id,
  kind: row.kind,
  onHandDelta: row.on_hand_delta,
  reservedDelta: row.reserved_delta,
  operation: row.operation,
  owner: row.owner
})

/**
 * Counts the writes of a decision. A crossing counts, because it may concern a level created for the
 * batch.
 */
export const countStockDecisionWrites = ({
  levels,
  inserted,
  updated,
  statusChanges: crossings
}: StockBatchDecision): number => levels.length + inserted.length + updated.length + crossings.length

/**
 * Sends all writes of a decision without waiting in between, so that they can be pipelined with the
 * commit.
 */
export async function writeStockBatchDecision(
  tx: Transaction,
  {
    levels,
    inserted,
    updated,
    movements
  }: Pick<StockBatchDecision, 'levels' | 'inserted' | 'updated' | 'movements'>
): Promise<void> {
  await Promise.all([
    levels.length > 0 && tx.run(repository.updateStockLevels, levelColumns(levels)),
    inserted.length > 0 && tx.run(repository.insertReservations, reservationColumns(inserted)),
    updated.length > 0 && tx.run(repository.updateReservations, reservationColumns(updated)),
    movements.length > 0 && tx.run(repository.insertStockMovements, movementColumns(movements))
  ])
}

const levelColumns = (levels: readonly StockLevel[]) => ({
  itemIds: levels.map(each => each.itemId),
  locationIds: levels.map(each => each.locationId),
  onHand: levels.map(each => each.onHand),
  reserved: levels.map(each => each.reserved),
  safety: levels.map(each => each.safety),
  seqs: levels.map(each => each.seq),
  sourceVersions: levels.map(each => each.sourceVersion)
})
const reservationColumns = (rows: readonly StockReservationValues[]) => ({
  owners: rows.map(each => each.owner),
  itemIds: rows.map(each => each.itemId),
  locationIds: rows.map(each => each.locationId),
  quantities: rows.map(each => each.quantity),
  fulfilled: rows.map(each => each.fulfilled),
  states: rows.map(each => each.state),
  seconds: rows.map(each => each.seconds)
})
const movementColumns = (movements: readonly StockMovement[]) => ({
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

/** Finds the orders with reservations at each short level. */
export async function findOrdersOfStockShortfalls(
  tx: Transaction,
  { shortfalls, levels }: Pick<StockBatchDecision, 'shortfalls' | 'levels'>
): Promise<StockLevelShortfall[]> {
  if (shortfalls.length === 0) return []
  const rows = await tx.rows(repository.listReservationOwnersOfShortLevels, {
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

/**
 * Publishes the effects of a batch in its transaction. `invalidate` updates caches of this process after
 * commit.
 */
export type StockBatchPublisher = {
  invalidate(variantIds: readonly string[]): void
  emitCrossed(tx: Transaction, crossing: StockStatusChange): void
  emitShort(tx: Transaction, shortfall: StockLevelShortfall): void
  /** The outcome of a take request. */
  emitTaken(tx: Transaction, take: TakeContestedStockOperation, isTaken: boolean): void
  emitLost(tx: Transaction, loss: UnitsTakenFromUnpaidOrder): void
}
