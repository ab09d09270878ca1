import type { StockDecisionBranch } from '../../src/modules/inventory/decisions/branches.ts'
import { decideStockOperations, STOCK_DECISION_RULES } from '../../src/modules/inventory/decisions/decide.ts'
import type {
  LockedStockState,
  ShipmentStockMovement,
  StockBatchDecision,
  StockItem,
  StockLevel,
  StockOperation,
  StockOperationOutcome,
  StockReservation
} from '../../src/modules/inventory/decisions/state.ts'
import type { History, Step } from './stock-histories.ts'
import { type Act, partsOf, perform, type Report, type Row, type Shelf, type World } from './stock-model.ts'

const groupBy = <T>(list: readonly T[], keyOf: (each: T) => string): Map<string, T[]> => {
  const groups = new Map<string, T[]>()
  for (const each of list) groups.set(keyOf(each), [...(groups.get(keyOf(each)) ?? []), each])
  return groups
}

/** The world as the writer reads it. Its rows are frozen, so a write to them throws. */
function stockOf(world: World, moved: readonly ShipmentStockMovement[]): LockedStockState {
  const levelOf = (shelf: Shelf): StockLevel => {
    const priority = world.places.findIndex(place => place.id === shelf.place)
    const { item: itemId, place: locationId, version: sourceVersion, ...figures } = shelf
    const active = world.places[priority]?.active === true
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
    due: isExpired,
    busy,
    ...row
  }: Row): StockReservation =>
    Object.freeze({
      ...row,
      itemId,
      locationId,
      isExpired,
      isUnlocked: !busy,
      // A row that a claim has locked has invalid values, so that any use of them is detected.
      ...(busy ? { quantity: -7, fulfilled: 9, state: 'held' as const } : {})
    })
  const items = world.goods.map(({ id, tracked, backorder, limit, low }): [string, StockItem] => [
    id,
    { id, tracked, backorder, backorderLimit: backorder === 'limit' ? limit : null, lowThreshold: low }
  ])
  const locked = [...world.goods.map(good => good.id), 'unknown'].filter(id => !world.locked.includes(id))
  // The database returns levels by location.
  const levels = [...world.shelves].sort((a, b) => (a.place < b.place ? -1 : 1)).map(levelOf)
  return {
    items: new Map(items),
    levels: new Map(locked.map(id => [id, Object.freeze(levels.filter(level => level.itemId === id))])),
    reservations: groupBy(world.rows.map(reservationOf), row => row.owner),
    shipped: groupBy(
      moved.filter(({ kind }) => kind === 'ship' || kind === 'unship'),
      ({ operation }) => operation
    ),
    kitsOf: groupBy(
      world.kits.map(({ variant, item, quantity }) => ({ variantId: variant, quantity, item })),
      kit => kit.item
    ),
    home: world.home,
    newItems: new Set(world.unshelved)
  }
}

function operationOf(world: World, act: Act): StockOperation {
  const lineOf = ({ item, quantity }: { item: string; quantity: number }) => ({ itemId: item, quantity })
  switch (act.verb) {
    case 'reserve': {
      const needs = act.basket.map(({ variant, quantity }) => ({
        variantId: variant,
        quantity,
        parts: partsOf(world, variant).map(lineOf)
      }))
      const contest = act.contest === null ? {} : { contest: new Map(Object.entries(act.contest)) }
      return { kind: 'reserve', id: act.id, owner: act.owner, needs, seconds: 60, ...contest }
    }
    case 'take': {
      const victims = act.victims.map(({ owner, keep }) => ({ owner, keep: keep.map(lineOf) }))
      return { kind: 'take', id: act.id, owner: act.owner, parts: act.lines.map(lineOf), victims }
    }
    case 'drop':
    case 'expire':
      return { kind: act.verb, id: act.id, owner: act.owner, itemIds: [] }
    case 'unship':
      return { kind: 'unship', id: act.id, owner: act.owner, shipment: act.shipment }
    case 'count': {
      const lines = act.lines.map(({ item, place, version, ...line }) => ({
        itemId: item,
        locationId: place,
        sourceVersion: version,
        ...line
      }))
      return { kind: 'count', id: act.id, lines, actor: null, reason: null }
    }
    case 'adjust': {
      const lines = act.lines.map(({ item, place, delta }) => ({ itemId: item, locationId: place, delta }))
      return { kind: 'adjust', id: act.id, lines, actor: null, reason: 'found' }
    }
    default: {
      const parts = act.lines?.map(lineOf) ?? null
      return { kind: act.verb, id: act.id, owner: act.owner, parts, locationId: act.place }
    }
  }
}

/** Applies a decision to the world as the writer does. */
function written(
  world: World,
  { levels, inserted, updated }: StockBatchDecision
): { shelves: Shelf[]; rows: Row[] } {
  const shelves = new Map(world.shelves.map(shelf => [`${shelf.item}@${shelf.place}`, shelf]))
  for (const {
    itemId: item,
    locationId: place,
    onHand,
    reserved,
    safety,
    seq,
    sourceVersion: version
  } of levels)
    shelves.set(`${item}@${place}`, { item, place, onHand, reserved, safety, seq, version })
  const keyOf = (row: { owner: string; item: string; place: string }) =>
    `${row.owner}:${row.item}@${row.place}`
  const rows = new Map(world.rows.map(row => [keyOf(row), row]))
  const put = (
    isNew: boolean,
    { itemId: item, locationId: place, seconds, ...row }: StockBatchDecision['updated'][number]
  ) => {
    const key = keyOf({ ...row, item, place })
    const before = rows.get(key)
    if (isNew === (before !== undefined)) throw new Error(`${key} is not ${isNew ? 'new' : 'there'}`)
    const due = row.state === 'held' && seconds === null && before?.due === true
    rows.set(key, { ...row, item, place, due, busy: before?.busy ?? false })
  }
  for (const row of inserted) put(true, row)
  for (const row of updated) put(false, row)
  return { shelves: [...shelves.values()], rows: [...rows.values()] }
}

const sorted = (list: readonly unknown[]): string[] => list.map(each => JSON.stringify(each)).sort()
const pictureOf = ({ shelves, rows }: Pick<World, 'shelves' | 'rows'>) => ({
  shelves: sorted(
    shelves.map(({ item, place, onHand, reserved, safety, seq, version }) => [
      item,
      place,
      onHand,
      reserved,
      safety,
      seq,
      version
    ])
  ),
  rows: sorted(
    rows.map(({ owner, item, place, quantity, fulfilled, state, due }) => [
      owner,
      item,
      place,
      quantity,
      fulfilled,
      state,
      state === 'held' && due
    ])
  )
})

function resultOf(outcome: StockOperationOutcome): Report['results'][number] {
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

/** Creates missing shelves before the lock, as the writer does. No other transaction locks a new shelf. */
function makeShelves(world: World, acts: readonly Act[]): void {
  const isShelved = (item: string) => world.shelves.some(shelf => shelf.item === item)
  world.unshelved = world.goods.map(({ id }) => id).filter(id => !isShelved(id))
  const make = (item: string, place: string) => {
    const isTracked = world.goods.some(good => good.id === item && good.tracked)
    if (!isTracked || world.shelves.some(shelf => shelf.item === item && shelf.place === place)) return
    world.shelves.push({ item, place, onHand: 0, reserved: 0, safety: 0, seq: 0, version: null })
  }
  for (const act of acts) {
    if (act.verb === 'count' || act.verb === 'adjust')
      for (const { item, place } of act.lines) make(item, place)
    if (act.verb !== 'ship' && act.verb !== 'return') continue
    for (const { item } of act.lines ?? [])
      if (act.place !== null || !world.shelves.some(shelf => shelf.item === item))
        make(item, act.place ?? world.home)
  }
  world.unshelved = world.unshelved.filter(isShelved)
  world.locked = world.locked.filter(item => !world.unshelved.includes(item))
}

/** Applies changes of rows and settings that bypass the writer. */
function happen(world: World, step: Exclude<Step, { kind: 'batch' }>): void {
  if (step.kind === 'good')
    world.goods = world.goods.map(good => (good.id === step.good.id ? step.good : good))
  if (step.kind === 'place')
    world.places = world.places.map(place =>
      place.id === step.id ? { ...place, active: step.active } : place
    )
  if (step.kind === 'forget') world.rows = world.rows.filter(({ state }) => state !== 'closed')
  if (!('owner' in step)) return
  for (const row of world.rows.filter(each => each.owner === step.owner)) {
    if (step.kind === 'claim' && row.state === 'held') row.state = 'claimed'
    else if (step.kind === 'confirm' && row.state === 'claimed') row.state = 'confirmed'
    else if (step.kind === 'come due') row.due = row.state === 'held'
  }
}

/** Checks invariants that hold in every history, independently of the model. */
function audit(world: World, { movements }: StockBatchDecision): void {
  for (const move of movements)
    if (move.kind === 'reserve' && move.allowedAfter !== null && move.reservedAfter > move.allowedAfter)
      throw new Error(`Oversold: ${JSON.stringify(move)}`)
  for (const shelf of world.shelves) {
    const rows = world.rows.filter(row => row.item === shelf.item && row.place === shelf.place)
    const open = rows
      .filter(row => row.state !== 'closed')
      .reduce((sum, row) => sum + row.quantity - row.fulfilled, 0)
    if (open !== shelf.reserved)
      throw new Error(`Reserved is not what is open: ${JSON.stringify({ shelf, rows })}`)
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
      happen(world, step)
      continue
    }
    world.locked = step.locked
    makeShelves(world, step.acts)
    for (const row of world.rows) row.busy = row.owner === step.busy
    const decided = decideStockOperations(
      stockOf(world, moved),
      step.acts.map(act => operationOf(world, act)),
      note,
      rules
    )
    const reality = pictureOf(written(world, decided))
    const { moves, ...report } = perform(world, step.acts)
    compare(reportOf(decided), { ...report, moves: sorted(moves) })
    compare(reality, pictureOf(world))
    audit(world, decided)
    moved.push(...decided.movements)
    for (const row of world.rows) row.busy = false
  }
}
