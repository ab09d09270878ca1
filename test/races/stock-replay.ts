import type { StockDecisionBranch } from '../../src/modules/inventory/decisions/branches.ts'
import { decideStockOperations, STOCK_DECISION_RULES } from '../../src/modules/inventory/decisions/decide.ts'
import type {
  InventoryItemStockPolicy,
  LockedStockState,
  ShipmentStockMovement,
  StockBatchDecision,
  StockLevel,
  StockOperation,
  StockOperationOutcome,
  StockReservation
} from '../../src/modules/inventory/decisions/state.ts'
import type { History, HistoryStep } from './stock-histories.ts'
import { kitPartsOf, performOperations } from './stock-model.ts'
import type {
  ModelLevel,
  ModelOperation,
  ModelReservation,
  ModelStock,
  StockReport
} from './stock-model-types.ts'

const groupBy = <T>(list: readonly T[], keyOf: (each: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const each of list) groups.set(keyOf(each), [...(groups.get(keyOf(each)) ?? []), each])
  return groups
}

/** The world as the writer reads it. Its reservations are frozen, so a write to them throws. */
function stockOf(world: ModelStock, moved: readonly ShipmentStockMovement[]): LockedStockState {
  const levelOf = (level: ModelLevel): StockLevel => {
    const priority = world.locations.findIndex(place => place.id === level.place)
    const { item: itemId, place: locationId, version: sourceVersion, ...figures } = level
    const active = world.locations[priority]?.active === true
    // Two locations share a priority: their ids decide.
    return Object.freeze({
      itemId,
      locationId,
      sourceVersion,
      priority: Math.ceil(priority / 2),
      active,
      ...figures
    })
  }
  const reservationOf = ({
    item: itemId,
    place: locationId,
    isDue: isExpired,
    isLocked: busy,
    ...reservation
  }: ModelReservation): StockReservation =>
    Object.freeze({
      ...reservation,
      itemId,
      locationId,
      isExpired,
      isUnlocked: !busy,
      // A reservation that a claim has locked has invalid values, so that any use of them is detected.
      ...(busy ? { quantity: -7, fulfilled: 9, state: 'held' as const } : {})
    })
  const items = world.items.map(
    ({
      id,
      isTracked: tracked,
      backorder,
      backorderLimit: limit,
      lowThreshold: low
    }): [string, InventoryItemStockPolicy] => [
      id,
      { id, tracked, backorder, backorderLimit: backorder === 'limit' ? limit : null, lowThreshold: low }
    ]
  )
  const locked = [...world.items.map(item => item.id), 'unknown'].filter(id => !world.locked.includes(id))
  // The database returns levels by location.
  const levels = [...world.levels].sort((a, b) => (a.place < b.place ? -1 : 1)).map(levelOf)
  return {
    items: new Map(items),
    levels: new Map(locked.map(id => [id, Object.freeze(levels.filter(level => level.itemId === id))])),
    reservations: groupBy(world.reservations.map(reservationOf), reservation => reservation.owner),
    shipped: groupBy(
      moved.filter(({ kind }) => kind === 'ship' || kind === 'unship'),
      ({ operation }) => operation
    ),
    kitsOf: groupBy(
      world.kits.map(({ variant, item, quantity }) => ({ variantId: variant, quantity, item })),
      kit => kit.item
    ),
    home: world.home,
    newItems: new Set(world.itemsWithoutLevel)
  }
}

function operationOf(world: ModelStock, operation: ModelOperation): StockOperation {
  const lineOf = ({ item, quantity }: { item: string; quantity: number }) => ({ itemId: item, quantity })
  switch (operation.verb) {
    case 'reserve': {
      const needs = operation.basket.map(({ variant, quantity }) => ({
        variantId: variant,
        quantity,
        parts: kitPartsOf(world, variant).map(lineOf)
      }))
      const contest =
        operation.contest === null ? {} : { contest: new Map(Object.entries(operation.contest)) }
      return { kind: 'reserve', id: operation.id, owner: operation.owner, needs, seconds: 60, ...contest }
    }
    case 'take': {
      const victims = operation.victims.map(({ owner, keep }) => ({ owner, keep: keep.map(lineOf) }))
      return {
        kind: 'take',
        id: operation.id,
        owner: operation.owner,
        parts: operation.lines.map(lineOf),
        victims
      }
    }
    case 'drop':
    case 'expire':
      return { kind: operation.verb, id: operation.id, owner: operation.owner, itemIds: [] }
    case 'unship':
      return { kind: 'unship', id: operation.id, owner: operation.owner, shipment: operation.shipment }
    case 'count': {
      const lines = operation.lines.map(({ item, place, version, ...line }) => ({
        itemId: item,
        locationId: place,
        sourceVersion: version,
        ...line
      }))
      return { kind: 'count', id: operation.id, lines, actor: null, reason: null }
    }
    case 'adjust': {
      const lines = operation.lines.map(({ item, place, delta }) => ({
        itemId: item,
        locationId: place,
        delta
      }))
      return { kind: 'adjust', id: operation.id, lines, actor: null, reason: 'found' }
    }
    default: {
      const parts = operation.lines?.map(lineOf) ?? null
      return {
        kind: operation.verb,
        id: operation.id,
        owner: operation.owner,
        parts,
        locationId: operation.place
      }
    }
  }
}

/** Applies a decision to the world as the writer does. */
function written(
  world: ModelStock,
  { levels, inserted, updated }: StockBatchDecision
): { levels: ModelLevel[]; reservations: ModelReservation[] } {
  const writtenLevels = new Map(world.levels.map(level => [`${level.item}@${level.place}`, level]))
  for (const {
    itemId: item,
    locationId: place,
    onHand,
    reserved,
    safety,
    seq,
    sourceVersion: version
  } of levels)
    writtenLevels.set(`${item}@${place}`, { item, place, onHand, reserved, safety, seq, version })
  const keyOf = (reservation: { owner: string; item: string; place: string }) =>
    `${reservation.owner}:${reservation.item}@${reservation.place}`
  const reservations = new Map(world.reservations.map(reservation => [keyOf(reservation), reservation]))
  const put = (
    isNew: boolean,
    { itemId: item, locationId: place, seconds, ...reservation }: StockBatchDecision['updated'][number]
  ) => {
    const key = keyOf({ ...reservation, item, place })
    const before = reservations.get(key)
    if (isNew === (before !== undefined)) throw new Error(`${key} is not ${isNew ? 'new' : 'there'}`)
    const isDue = reservation.state === 'held' && seconds === null && before?.isDue === true
    reservations.set(key, { ...reservation, item, place, isDue, isLocked: before?.isLocked ?? false })
  }
  for (const reservation of inserted) put(true, reservation)
  for (const reservation of updated) put(false, reservation)
  return { levels: [...writtenLevels.values()], reservations: [...reservations.values()] }
}

const sorted = (list: readonly unknown[]): string[] => list.map(each => JSON.stringify(each)).sort()
const comparableStock = ({ levels, reservations }: Pick<ModelStock, 'levels' | 'reservations'>) => ({
  levels: sorted(
    levels.map(({ item, place, onHand, reserved, safety, seq, version }) => [
      item,
      place,
      onHand,
      reserved,
      safety,
      seq,
      version
    ])
  ),
  reservations: sorted(
    reservations.map(({ owner, item, place, quantity, fulfilled, state, isDue }) => [
      owner,
      item,
      place,
      quantity,
      fulfilled,
      state,
      state === 'held' && isDue
    ])
  )
})

function resultOf(outcome: StockOperationOutcome): StockReport['results'][number] {
  if (outcome.kind === 'short')
    return {
      kind: 'short',
      lines: outcome.lines.map(({ variantId, requested, available }) => ({
        variant: variantId,
        requested,
        available
      }))
    }
  if (outcome.kind === 'later') return { kind: 'later', items: [...outcome.itemIds].sort() }
  if (outcome.kind === 'counted')
    return { kind: 'counted', stale: [...outcome.stale], short: [...outcome.short] }
  const lineOf = ({ itemId: item, quantity }: { itemId: string; quantity: number }) => ({ item, quantity })
  if (outcome.kind === 'reserved') return { kind: 'reserved', contested: outcome.contested.map(lineOf) }
  if (outcome.kind === 'took')
    return {
      kind: 'took',
      lost: outcome.lost.map(({ owner, parts }) => ({ owner, lines: parts.map(lineOf) }))
    }
  return { kind: outcome.kind }
}

function reportOf({ outcomes, movements, statusChanges: crossings, shortfalls }: StockBatchDecision) {
  return {
    results: outcomes.map(resultOf),
    crossings: crossings
      .flatMap(({ itemId, variantIds, status }) =>
        variantIds.map(variant => `${itemId}>${variant}:${status}`)
      )
      .sort(),
    shortfalls: shortfalls.map(({ itemId, locationId }) => `${itemId}@${locationId}`).sort(),
    moves: sorted(
      movements.map(each => ({
        item: each.itemId,
        place: each.locationId,
        seq: each.seq,
        kind: each.kind,
        onHand: each.onHandAfter,
        reserved: each.reservedAfter,
        onHandDelta: each.onHandDelta,
        reservedDelta: each.reservedDelta,
        allowed: each.allowedAfter,
        operation: each.operation
      }))
    )
  }
}

/** Creates missing levels before the lock, as the writer does. No other transaction locks a new level. */
function createMissingLevels(world: ModelStock, operations: readonly ModelOperation[]): void {
  const isShelved = (item: string) => world.levels.some(level => level.item === item)
  world.itemsWithoutLevel = world.items.map(({ id }) => id).filter(id => !isShelved(id))
  const make = (item: string, place: string) => {
    const isTracked = world.items.some(({ id, isTracked }) => id === item && isTracked)
    if (!isTracked || world.levels.some(level => level.item === item && level.place === place)) return
    world.levels.push({ item, place, onHand: 0, reserved: 0, safety: 0, seq: 0, version: null })
  }
  for (const operation of operations) {
    if (operation.verb === 'count' || operation.verb === 'adjust')
      for (const { item, place } of operation.lines) make(item, place)
    if (operation.verb !== 'ship' && operation.verb !== 'return') continue
    for (const { item } of operation.lines ?? [])
      if (operation.place !== null || !world.levels.some(level => level.item === item))
        make(item, operation.place ?? world.home)
  }
  world.itemsWithoutLevel = world.itemsWithoutLevel.filter(isShelved)
  world.locked = world.locked.filter(item => !world.itemsWithoutLevel.includes(item))
}

/** Applies changes of reservations and settings that bypass the writer. */
function applyOutsideChange(world: ModelStock, step: Exclude<HistoryStep, { kind: 'batch' }>): void {
  if (step.kind === 'item')
    world.items = world.items.map(item => (item.id === step.item.id ? step.item : item))
  if (step.kind === 'place')
    world.locations = world.locations.map(place =>
      place.id === step.id ? { ...place, active: step.active } : place
    )
  if (step.kind === 'forget')
    world.reservations = world.reservations.filter(({ state }) => state !== 'closed')
  if (!('owner' in step)) return
  for (const reservation of world.reservations.filter(each => each.owner === step.owner)) {
    if (step.kind === 'claim' && reservation.state === 'held') reservation.state = 'claimed'
    else if (step.kind === 'confirm' && reservation.state === 'claimed') reservation.state = 'confirmed'
    else if (step.kind === 'come due') reservation.isDue = reservation.state === 'held'
  }
}

/** Checks invariants that hold in every history, independently of the model. */
function audit(world: ModelStock, { movements }: StockBatchDecision): void {
  for (const move of movements)
    if (move.kind === 'reserve' && move.allowedAfter !== null && move.reservedAfter > move.allowedAfter)
      throw new Error(`Oversold: ${JSON.stringify(move)}`)
  for (const level of world.levels) {
    const reservations = world.reservations.filter(
      reservation => reservation.item === level.item && reservation.place === level.place
    )
    const open = reservations
      .filter(reservation => reservation.state !== 'closed')
      .reduce((sum, reservation) => sum + reservation.quantity - reservation.fulfilled, 0)
    if (open !== level.reserved)
      throw new Error(`Reserved differs from the open units: ${JSON.stringify({ level, reservations })}`)
  }
}

function compare<T>(real: T, model: T): void {
  const [is, ought] = [JSON.stringify(real), JSON.stringify(model)]
  if (is !== ought) throw new Error(`is\n${is}\nand ought to be\n${ought}`)
}

/** Replays a history in the program and in the model. @throws Error where they differ. */
export function live(
  { world, steps }: History,
  note: (branch: StockDecisionBranch) => void,
  rules = STOCK_DECISION_RULES
): void {
  const moved: ShipmentStockMovement[] = []
  for (const step of steps) {
    if (step.kind !== 'batch') {
      applyOutsideChange(world, step)
      continue
    }
    world.locked = step.locked
    createMissingLevels(world, step.operations)
    for (const reservation of world.reservations) reservation.isLocked = reservation.owner === step.busy
    const decided = decideStockOperations(
      stockOf(world, moved),
      step.operations.map(operation => operationOf(world, operation)),
      note,
      rules
    )
    const decidedStock = comparableStock(written(world, decided))
    const { moves, ...report } = performOperations(world, step.operations)
    compare(reportOf(decided), { ...report, moves: sorted(moves) })
    compare(decidedStock, comparableStock(world))
    audit(world, decided)
    moved.push(...decided.movements)
    for (const reservation of world.reservations) reservation.isLocked = false
  }
}
