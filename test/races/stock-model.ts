import type {
  ModelItem,
  ModelLevel,
  ModelOperation,
  ModelReservation,
  ModelStock,
  OperationResult,
  StockLine,
  StockMovement,
  StockReport
} from './stock-model-types.ts'

// A naive model of stock: it executes one operation after another and counts unit by unit, with every rule and without
// batches, locks or SQL. It shares no code with the program.

const findItem = (world: ModelStock, item: string) => world.items.find(each => each.id === item)
const isTracked = (world: ModelStock, item: string) => findItem(world, item)?.isTracked === true
const isActive = (world: ModelStock, level: ModelLevel) =>
  world.locations.some(({ id, active }) => id === level.place && active)
const openUnits = (row: ModelReservation) => (row.state === 'closed' ? 0 : row.quantity - row.fulfilled)

/** Copies the world with its shelves, for trials. */
const copyOf = (world: ModelStock): ModelStock => ({
  ...world,
  levels: world.levels.map(level => ({ ...level }))
})

/** Returns the shelves of an item by priority. */
function levelsOf(world: ModelStock, item: string): ModelLevel[] {
  return world.locations.flatMap(place =>
    world.levels.filter(level => level.item === item && level.place === place.id)
  )
}
const availableToPromise = (level: ModelLevel) =>
  level.onHand - level.safety > 0 ? level.onHand - level.safety : 0
const backorderedUnits = (level: ModelLevel) =>
  level.reserved > availableToPromise(level) ? level.reserved - availableToPromise(level) : 0

/** Returns the level that promises the next unit of an item, from stock or as a backorder. */
function levelOfNextUnit(world: ModelStock, item: string): ModelLevel | undefined {
  const selling = levelsOf(world, item).filter(level => isActive(world, level))
  const there = selling.find(level => level.reserved < availableToPromise(level))
  if (there !== undefined) return there
  const about = findItem(world, item)
  let waiting = 0
  for (const level of levelsOf(world, item)) waiting += backorderedUnits(level)
  if (about?.backorder === 'any') return selling[0]
  return about?.backorder === 'limit' && waiting < about.backorderLimit ? selling[0] : undefined
}

/** Takes one unit of every part of a variant, or nothing. */
function reserveOneOfEach(world: ModelStock, parts: StockLine[]): boolean {
  const taken: ModelLevel[] = []
  for (const part of parts) {
    if (!isTracked(world, part.item)) continue
    for (let unit = 0; unit < part.quantity; unit++) {
      const level = levelOfNextUnit(world, part.item)
      if (level === undefined) {
        for (const each of taken) each.reserved -= 1
        return false
      }
      level.reserved += 1
      taken.push(level)
    }
  }
  return true
}

export function kitPartsOf(world: ModelStock, variant: string): StockLine[] {
  const parts = world.kits.filter(kit => kit.variant === variant)
  return parts.length === 0
    ? [{ item: variant, quantity: 1 }]
    : parts.map(({ item, quantity }) => ({ item, quantity }))
}

function sumByItem(lines: StockLine[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { item, quantity } of lines) sums[item] = (sums[item] ?? 0) + quantity
  return sums
}
const areSameSums = (a: Record<string, number>, b: Record<string, number>) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort())

function stockStatus(world: ModelStock, item: string, per: number): string {
  const about = findItem(world, item)
  if (!about?.isTracked) return 'untracked'
  const scratch = copyOf(world)
  const most = Math.max(per, (about.lowThreshold ?? 0) + 1)
  let units = 0
  while (units < most && reserveOneOfEach(scratch, [{ item, quantity: 1 }])) units += 1
  if (units < per) return 'out'
  return about.lowThreshold !== null && units <= about.lowThreshold ? 'low' : 'in'
}

const missingUnits = (level: ModelLevel) => Math.max(0, level.reserved - Math.max(0, level.onHand))
function isShort(world: ModelStock, level: ModelLevel): boolean {
  const about = findItem(world, level.item)
  if (!about?.isTracked || about.backorder === 'any' || missingUnits(level) === 0) return false
  let all = 0
  for (const each of levelsOf(world, level.item)) all += missingUnits(each)
  return all > (about.backorder === 'limit' ? about.backorderLimit : 0)
}

/** Performs operations in sequence, changes the world, and returns a report. */
export function performOperations(world: ModelStock, operations: ModelOperation[]): StockReport {
  const before = copyOf(world)
  before.levels = before.levels.filter(level => !world.itemsWithoutLevel.includes(level.item))
  const moves: StockMovement[] = []
  const facts = new Set<ModelLevel>()
  const results = operations.map(operation => performOperation(world, operation, moves, facts))
  const crossings: string[] = []
  for (const { id } of world.items)
    for (const { variant, quantity } of [
      { variant: id, quantity: 1 },
      ...world.kits.filter(kit => kit.item === id)
    ]) {
      const now = stockStatus(world, id, quantity)
      if (stockStatus(before, id, quantity) !== now) crossings.push(`${id}>${variant}:${now}`)
    }
  const shortfalls = [...facts]
    .filter(level => isShort(world, level))
    .map(level => `${level.item}@${level.place}`)
  return { results, moves, crossings: crossings.sort(), shortfalls: shortfalls.sort() }
}

function performOperation(
  world: ModelStock,
  operation: ModelOperation,
  moves: StockMovement[],
  facts: Set<ModelLevel>
): OperationResult {
  const later = lockedItemsOf(world, operation)
  if (later.length > 0) return { kind: 'later', items: later }
  const move = (
    level: ModelLevel,
    kind: string,
    onHandDelta: number,
    reservedDelta: number,
    allowed: number | null = null,
    operationId = operation.id
  ) => {
    level.onHand += onHandDelta
    level.reserved += reservedDelta
    level.seq += 1
    const { item, place, seq, onHand, reserved } = level
    moves.push({
      item,
      place,
      seq,
      kind,
      onHand,
      reserved,
      onHandDelta,
      reservedDelta,
      allowed,
      operation: operationId
    })
  }
  if (operation.verb === 'reserve') return reserve(world, operation, move)
  if (operation.verb === 'take') return takeUnits(world, operation, move)
  if (operation.verb === 'drop' || operation.verb === 'expire') {
    const rows = world.reservations.filter(row => row.owner === operation.owner)
    if (operation.verb === 'expire' && rows.some(row => row.isLocked)) return { kind: 'done' }
    for (const row of rows)
      if (row.state === 'held' && (operation.verb === 'drop' || row.isDue))
        releaseUnits(world, row, openUnits(row), move)
    return { kind: 'done' }
  }
  if (operation.verb === 'count' || operation.verb === 'adjust')
    return countOrAdjust(world, operation, move, facts)
  if (operation.verb === 'unship') return voidShipment(world, operation, move, facts)
  const leave = (level: ModelLevel, quantity: number, promised: number) => {
    move(level, 'ship', -quantity, -promised)
    facts.add(level)
    const { item, place } = level
    world.shippedUnits.push({
      shipment: operation.id,
      owner: operation.owner,
      item,
      place,
      quantity,
      promised
    })
  }
  for (const { item, quantity } of operation.lines === null
    ? openLinesOf(world, operation.owner, operation.verb)
    : mergeLines(operation.lines)) {
    let rest = quantity
    if (operation.verb !== 'return')
      for (const level of levelsOf(world, item)) {
        if (operation.place !== null && level.place !== operation.place) continue
        const row = world.reservations.find(
          each => each.owner === operation.owner && each.item === item && each.place === level.place
        )
        const share = row === undefined ? 0 : Math.min(rest, openUnits(row))
        if (row === undefined || share === 0) continue
        rest -= share
        if (operation.verb === 'release') releaseUnits(world, row, share, move)
        else {
          row.fulfilled += share
          if (row.fulfilled === row.quantity) row.state = 'closed'
          leave(level, share, share)
        }
      }
    if (rest === 0 || operation.verb === 'release' || operation.lines === null || !isTracked(world, item))
      continue
    const level = levelToCount(world, item, operation.place)
    if (operation.verb === 'ship') leave(level, rest, 0)
    else move(level, operation.verb, rest, 0)
  }
  return { kind: 'done' }
}

type MoveStock = (
  level: ModelLevel,
  kind: string,
  onHandDelta: number,
  reservedDelta: number,
  allowed?: number | null,
  operation?: string
) => void

const shippedWith = (world: ModelStock, { shipment, owner }: Extract<ModelOperation, { verb: 'unship' }>) =>
  world.shippedUnits.filter(each => each.shipment === shipment && each.owner === owner)

/** Returns each unit to its level, and reserves it if it was reserved; a closed row opens again. */
function voidShipment(
  world: ModelStock,
  operation: Extract<ModelOperation, { verb: 'unship' }>,
  move: MoveStock,
  facts: Set<ModelLevel>
): OperationResult {
  const back = shippedWith(world, operation)
  if (back.length === 0) return { kind: 'nothing' }
  world.shippedUnits = world.shippedUnits.filter(each => !back.includes(each))
  for (const { item, place, quantity, promised } of back) {
    const isIts = (row: ModelReservation) =>
      row.owner === operation.owner && row.item === item && row.place === place
    for (let unit = 0; unit < promised; unit++) {
      const row = world.reservations.find(isIts)
      if (row === undefined) {
        const one = { owner: operation.owner, item, place, quantity: 1, fulfilled: 0 }
        world.reservations.push({ ...one, state: 'confirmed', isDue: false, isLocked: false })
        continue
      }
      // Released units are no longer reserved.
      if (row.state === 'closed') row.quantity = row.fulfilled
      if (row.state === 'closed') row.state = 'confirmed'
      if (row.fulfilled > 0) row.fulfilled -= 1
      else row.quantity += 1
    }
    const level = levelsOf(world, item).find(each => each.place === place) as ModelLevel
    move(level, 'unship', quantity, promised, null, operation.shipment)
    facts.add(level)
  }
  return { kind: 'done' }
}

const mergeLines = (lines: StockLine[]): StockLine[] =>
  Object.entries(sumByItem(lines)).map(([item, quantity]) => ({ item, quantity }))
/** The lines of an operation without lines: all open units of the owner, or none for a return. */
function openLinesOf(world: ModelStock, owner: string, verb: string): StockLine[] {
  if (verb === 'return') return []
  const rows = world.reservations.filter(row => row.owner === owner && row.state !== 'closed')
  return mergeLines(rows.map(row => ({ item: row.item, quantity: openUnits(row) })))
}

function levelToCount(world: ModelStock, item: string, place: string | null): ModelLevel {
  const shelves = levelsOf(world, item)
  const level =
    place !== null
      ? shelves.find(each => each.place === place)
      : (shelves.find(each => each.place === world.home) ??
        shelves.find(each => isActive(world, each)) ??
        shelves[0])
  if (level === undefined) throw new Error(`${item} has no level`)
  return level
}

function releaseUnits(world: ModelStock, row: ModelReservation, quantity: number, move: MoveStock): void {
  if (openUnits(row) === quantity) row.state = 'closed'
  else row.quantity -= quantity
  move(
    levelsOf(world, row.item).find(each => each.place === row.place) as ModelLevel,
    'release',
    0,
    -quantity
  )
}

/** Returns the locked items that an operation has to wait for. */
function lockedItemsOf(world: ModelStock, operation: ModelOperation): string[] {
  const items = new Set<string>()
  const needed: string[] =
    operation.verb === 'reserve'
      ? operation.basket.flatMap(({ variant }) => kitPartsOf(world, variant).map(part => part.item))
      : operation.verb === 'drop' || operation.verb === 'expire' || operation.verb === 'release'
        ? []
        : operation.verb === 'unship'
          ? shippedWith(world, operation).map(({ item }) => item)
          : (operation.lines ?? []).map(line => line.item)
  const isMovedAnyway = !('owner' in operation) || operation.verb === 'unship'
  for (const item of needed)
    if (world.locked.includes(item) && (isMovedAnyway || isTracked(world, item))) items.add(item)
  if (!('owner' in operation) || operation.verb === 'return') return [...items].sort()
  const rows = world.reservations.filter(row => row.owner === operation.owner)
  if (operation.verb === 'expire' && rows.some(row => row.isLocked)) return []
  for (const row of rows) {
    const isMeant =
      operation.verb === 'drop'
        ? row.state === 'held'
        : operation.verb === 'expire'
          ? row.state === 'held' && row.isDue
          : row.state !== 'closed'
    if (row.isLocked || (isMeant && world.locked.includes(row.item))) items.add(row.item)
  }
  return [...items].sort()
}

function reserve(
  world: ModelStock,
  operation: Extract<ModelOperation, { verb: 'reserve' }>,
  move: MoveStock
): OperationResult {
  const mine = world.reservations.filter(row => row.owner === operation.owner && row.state !== 'closed')
  const all = operation.basket.flatMap(({ variant, quantity }) =>
    kitPartsOf(world, variant).map(part => ({ item: part.item, quantity: part.quantity * quantity }))
  )
  const wanted = all.filter(({ item }) => isTracked(world, item) || mine.some(row => row.item === item))
  if (mine.length > 0 && areSameSums(sumByItem(mine), sumByItem(wanted))) {
    if (mine.every(row => row.state === 'held')) for (const row of mine) row.isDue = false
    return { kind: 'reserved', contested: [] }
  }
  if (mine.some(row => row.state !== 'held')) return { kind: 'taken' }

  // The trial world is one in which the owner has released the held units.
  const scratch = copyOf(world)
  for (const row of mine) {
    const level = scratch.levels.find(
      each => each.item === row.item && each.place === row.place
    ) as ModelLevel
    level.reserved -= openUnits(row)
  }
  const returned = copyOf(scratch)
  const short: { variant: string; requested: number; available: number }[] = []
  for (const { variant, quantity } of operation.basket) {
    const trial = copyOf(scratch)
    let available = 0
    while (available < quantity && reserveOneOfEach(trial, kitPartsOf(world, variant))) available += 1
    if (available < quantity) short.push({ variant, requested: quantity, available })
    else scratch.levels = trial.levels
  }
  const contested = short.length > 0 ? contestedLines(returned, mergeLines(wanted)) : []
  const { contest } = operation
  if (short.length > 0 && contest === null) return { kind: 'short', lines: short }
  if (contested.some(({ item, quantity }) => quantity > (contest?.[item] ?? 0)))
    return { kind: 'short', lines: short }

  for (const row of mine) releaseUnits(world, row, openUnits(row), move)
  for (const { item, quantity: all } of mergeLines(wanted)) {
    if (!isTracked(world, item)) continue
    const quantity = all - (contested.find(each => each.item === item)?.quantity ?? 0)
    if (quantity === 0) continue
    for (const [level, share] of splitByLevel(world, item, quantity)) {
      const allowed = allowedReservedAt(world, level)
      move(level, 'reserve', 0, share, allowed)
      world.reservations = world.reservations.filter(
        row => !(row.owner === operation.owner && row.item === item && row.place === level.place)
      )
      world.reservations.push({
        owner: operation.owner,
        item,
        place: level.place,
        quantity: share,
        fulfilled: 0,
        state: 'held',
        isDue: false,
        isLocked: false
      })
    }
  }
  return { kind: 'reserved', contested }
}

/** Returns the units that cannot be promised. */
function contestedLines(world: ModelStock, wanted: StockLine[]): StockLine[] {
  const contested: StockLine[] = []
  for (const { item, quantity } of wanted)
    for (let unit = 0; unit < quantity; unit++)
      if (!reserveOneOfEach(world, [{ item, quantity: 1 }])) contested.push({ item, quantity: 1 })
  return mergeLines(contested)
}

/** Takes each unit from free stock, or from the first victim that has one. */
function takeUnits(
  world: ModelStock,
  operation: Extract<ModelOperation, { verb: 'take' }>,
  move: MoveStock
): OperationResult {
  const lines = mergeLines(operation.lines).filter(({ item }) => isTracked(world, item))
  const scratch = copyOf(world)
  const given: { row: ModelReservation; quantity: number }[] = []
  const leftOf = (row: ModelReservation) => openUnits(row) - given.filter(each => each.row === row).length
  const giver = (item: string) => {
    for (const { owner, keep } of operation.victims) {
      let has = 0
      for (const row of world.reservations) if (row.owner === owner && row.item === item) has += leftOf(row)
      if (owner === operation.owner || has <= (sumByItem(keep)[item] ?? 0)) continue
      for (const level of levelsOf(scratch, item)) {
        const row = world.reservations.find(
          each => each.owner === owner && each.item === item && each.place === level.place
        )
        const isUnpaid = row?.state === 'claimed' && row.fulfilled === 0 && !row.isLocked
        if (row !== undefined && isUnpaid && isActive(world, level) && leftOf(row) > 0) return { level, row }
      }
    }
    return undefined
  }
  const short: { variant: string; requested: number; available: number }[] = []
  for (const { item, quantity } of lines) {
    let units = 0
    while (units < quantity) {
      if (reserveOneOfEach(scratch, [{ item, quantity: 1 }])) {
        units += 1
        continue
      }
      const from = giver(item)
      if (from === undefined) break
      from.level.reserved -= 1
      given.push({ row: from.row, quantity: 1 })
    }
    if (units < quantity) short.push({ variant: item, requested: quantity, available: units })
  }
  if (short.length > 0) return { kind: 'short', lines: short }

  for (const row of new Set(given.map(each => each.row)))
    releaseUnits(world, row, given.filter(each => each.row === row).length, move)
  for (const { item, quantity } of lines)
    for (const [level, share] of splitByLevel(world, item, quantity)) {
      move(level, 'reserve', 0, share, allowedReservedAt(world, level))
      const isMine = (row: ModelReservation) =>
        row.owner === operation.owner && row.item === item && row.place === level.place
      const mine = world.reservations.find(row => isMine(row) && row.state !== 'closed')
      world.reservations = world.reservations.filter(row => !isMine(row))
      const [quantity, fulfilled] = [(mine?.quantity ?? 0) + share, mine?.fulfilled ?? 0]
      const place = { owner: operation.owner, item, place: level.place }
      world.reservations.push({
        ...place,
        quantity,
        fulfilled,
        state: 'confirmed',
        isDue: false,
        isLocked: false
      })
    }
  const owners = new Set(given.map(({ row }) => row.owner))
  const lost = [...owners].map(owner => ({
    owner,
    lines: mergeLines(
      given
        .filter(({ row }) => row.owner === owner)
        .map(({ row, quantity }) => ({ item: row.item, quantity }))
    )
  }))
  return { kind: 'took', lost }
}

function splitByLevel(world: ModelStock, item: string, quantity: number): [ModelLevel, number][] {
  const selling = levelsOf(world, item).filter(level => isActive(world, level))
  for (const level of selling)
    if (availableToPromise(level) - level.reserved >= quantity) return [[level, quantity]]
  const scratch = copyOf(world)
  const shares: number[] = selling.map(() => 0)
  for (let unit = 0; unit < quantity; unit++) {
    const next = levelOfNextUnit(scratch, item) as ModelLevel
    next.reserved += 1
    const index = selling.findIndex(level => level.place === next.place)
    shares[index] = (shares[index] as number) + 1
  }
  return selling
    .map((level, index): [ModelLevel, number] => [level, shares[index] as number])
    .filter(([, share]) => share > 0)
}

function allowedReservedAt(world: ModelStock, level: ModelLevel): number | null {
  const about = findItem(world, level.item) as ModelItem
  if (about.backorder === 'any') return null
  let elsewhere = 0
  for (const each of levelsOf(world, level.item)) if (each !== level) elsewhere += backorderedUnits(each)
  const waiting = about.backorder === 'limit' ? about.backorderLimit - elsewhere : 0
  return availableToPromise(level) + (waiting > 0 ? waiting : 0)
}

function countOrAdjust(
  world: ModelStock,
  operation: Extract<ModelOperation, { verb: 'count' | 'adjust' }>,
  move: MoveStock,
  facts: Set<ModelLevel>
): OperationResult {
  const stale = new Set<string>()
  const touched = new Set<ModelLevel>()
  for (const line of operation.lines) {
    const isThere = world.levels.some(({ item, place }) => item === line.item && place === line.place)
    if (!isThere && !isTracked(world, line.item)) continue
    const level = levelToCount(world, line.item, line.place)
    if ('delta' in line) {
      if (line.delta !== 0) move(level, 'adjust', line.delta, 0)
    } else {
      if (line.version !== null && level.version !== null && line.version <= level.version) {
        stale.add(line.item)
        continue
      }
      if (line.version !== null) level.version = line.version
      const isSafetyChanged = line.safety !== null && line.safety !== level.safety
      if (line.safety !== null) level.safety = line.safety
      const delta = (line.onHand ?? level.onHand) - level.onHand
      if (isSafetyChanged || delta !== 0) move(level, 'count', delta, 0)
    }
    touched.add(level)
    facts.add(level)
  }
  const short = [...touched].filter(level => isShort(world, level)).map(level => level.item)
  return { kind: 'counted', stale: [...stale], short: [...new Set(short)] }
}
