/**
 * Stock as it ought to be: one operation after the other on one small world, counted unit by unit, with every rule and none
 * of the machinery. It knows nothing of the program.
 */
export type Good = {
  id: string
  tracked: boolean
  backorder: 'none' | 'limit' | 'any'
  limit: number
  low: number | null
}
export type Shelf = {
  item: string
  place: string
  onHand: number
  reserved: number
  safety: number
  seq: number
  version: number | null
}
export type Row = {
  owner: string
  item: string
  place: string
  quantity: number
  fulfilled: number
  state: 'held' | 'claimed' | 'confirmed' | 'closed'
  due: boolean
  /** A claim has locked this row. */
  busy: boolean
}
export type World = {
  goods: Good[]
  kits: { variant: string; item: string; quantity: number }[]
  /** In the order of their priority. */
  places: { id: string; active: boolean }[]
  home: string
  shelves: Shelf[]
  rows: Row[]
  /** Shipped units whose shipment was not voided. */
  gone: { shipment: string; owner: string; item: string; place: string; quantity: number; promised: number }[]
  /** Items that another transaction has locked. */
  locked: string[]
  /** Items that had no shelf before the acts that are done now. */
  unshelved: string[]
}
type Move = {
  item: string
  place: string
  seq: number
  kind: string
  onHand: number
  reserved: number
  onHandDelta: number
  reservedDelta: number
  allowed: number | null
  operation: string
}
export type Line = { item: string; quantity: number }
type Counted = {
  item: string
  place: string
  onHand: number | null
  safety: number | null
  version: number | null
}
export type Act =
  | {
      verb: 'reserve'
      id: string
      owner: string
      basket: { variant: string; quantity: number }[]
      /** Units that may be contested, by item; null: none. */
      contest: Record<string, number> | null
    }
  | {
      verb: 'take'
      id: string
      owner: string
      lines: Line[]
      /** `keep`: what they never lose. */
      victims: { owner: string; keep: Line[] }[]
    }
  | { verb: 'drop'; id: string; owner: string }
  | { verb: 'expire'; id: string; owner: string }
  | {
      verb: 'release' | 'ship' | 'return'
      id: string
      owner: string
      lines: Line[] | null
      place: string | null
    }
  | { verb: 'unship'; id: string; owner: string; shipment: string }
  | { verb: 'count'; id: string; lines: Counted[] }
  | { verb: 'adjust'; id: string; lines: { item: string; place: string; delta: number }[] }
type Result =
  | { kind: 'taken' | 'done' | 'nothing' }
  | { kind: 'reserved'; contested: Line[] }
  | { kind: 'took'; lost: { owner: string; lines: Line[] }[] }
  | { kind: 'short'; lines: { variant: string; requested: number; available: number }[] }
  | { kind: 'counted'; stale: string[]; short: string[] }
  | { kind: 'later'; items: string[] }
export type Report = {
  results: Result[]
  moves: Move[]
  /** `item>variant:status` */
  crossings: string[]
  /** `item@place` */
  shortfalls: string[]
}

const good = (world: World, item: string) => world.goods.find(each => each.id === item)
const isTracked = (world: World, item: string) => good(world, item)?.tracked === true
const isActive = (world: World, shelf: Shelf) =>
  world.places.some(({ id, active }) => id === shelf.place && active)
const left = (row: Row) => (row.state === 'closed' ? 0 : row.quantity - row.fulfilled)

/** Copies the world with its shelves, for trials. */
const copyOf = (world: World): World => ({ ...world, shelves: world.shelves.map(shelf => ({ ...shelf })) })

/** Returns the shelves of an item by priority. */
function shelvesOf(world: World, item: string): Shelf[] {
  return world.places.flatMap(place =>
    world.shelves.filter(shelf => shelf.item === item && shelf.place === place.id)
  )
}
const promisable = (shelf: Shelf) => (shelf.onHand - shelf.safety > 0 ? shelf.onHand - shelf.safety : 0)
const awaited = (shelf: Shelf) =>
  shelf.reserved > promisable(shelf) ? shelf.reserved - promisable(shelf) : 0

/** Returns the shelf that promises the next unit of an item, from stock or as a backorder. */
function nextUnit(world: World, item: string): Shelf | undefined {
  const selling = shelvesOf(world, item).filter(shelf => isActive(world, shelf))
  const there = selling.find(shelf => shelf.reserved < promisable(shelf))
  if (there !== undefined) return there
  const about = good(world, item)
  let waiting = 0
  for (const shelf of shelvesOf(world, item)) waiting += awaited(shelf)
  if (about?.backorder === 'any') return selling[0]
  return about?.backorder === 'limit' && waiting < about.limit ? selling[0] : undefined
}

/** Takes one unit of every part of a variant, or nothing. */
function takeOne(world: World, parts: Line[]): boolean {
  const taken: Shelf[] = []
  for (const part of parts) {
    if (!isTracked(world, part.item)) continue
    for (let unit = 0; unit < part.quantity; unit++) {
      const shelf = nextUnit(world, part.item)
      if (shelf === undefined) {
        for (const each of taken) each.reserved -= 1
        return false
      }
      shelf.reserved += 1
      taken.push(shelf)
    }
  }
  return true
}

export function partsOf(world: World, variant: string): Line[] {
  const parts = world.kits.filter(kit => kit.variant === variant)
  return parts.length === 0
    ? [{ item: variant, quantity: 1 }]
    : parts.map(({ item, quantity }) => ({ item, quantity }))
}

function tally(lines: Line[]): Record<string, number> {
  const sums: Record<string, number> = {}
  for (const { item, quantity } of lines) sums[item] = (sums[item] ?? 0) + quantity
  return sums
}
const sameTally = (a: Record<string, number>, b: Record<string, number>) =>
  JSON.stringify(Object.entries(a).sort()) === JSON.stringify(Object.entries(b).sort())

function status(world: World, item: string, per: number): string {
  const about = good(world, item)
  if (!about?.tracked) return 'untracked'
  const scratch = copyOf(world)
  const most = Math.max(per, (about.low ?? 0) + 1)
  let units = 0
  while (units < most && takeOne(scratch, [{ item, quantity: 1 }])) units += 1
  if (units < per) return 'out'
  return about.low !== null && units <= about.low ? 'low' : 'in'
}

const missing = (shelf: Shelf) => Math.max(0, shelf.reserved - Math.max(0, shelf.onHand))
function isShort(world: World, shelf: Shelf): boolean {
  const about = good(world, shelf.item)
  if (!about?.tracked || about.backorder === 'any' || missing(shelf) === 0) return false
  let all = 0
  for (const each of shelvesOf(world, shelf.item)) all += missing(each)
  return all > (about.backorder === 'limit' ? about.limit : 0)
}

/** Performs acts in sequence, changes the world, and returns a report. */
export function perform(world: World, acts: Act[]): Report {
  const before = copyOf(world)
  before.shelves = before.shelves.filter(shelf => !world.unshelved.includes(shelf.item))
  const moves: Move[] = []
  const facts = new Set<Shelf>()
  const results = acts.map(act => doOne(world, act, moves, facts))
  const crossings: string[] = []
  for (const { id } of world.goods)
    for (const { variant, quantity } of [
      { variant: id, quantity: 1 },
      ...world.kits.filter(kit => kit.item === id)
    ]) {
      const now = status(world, id, quantity)
      if (status(before, id, quantity) !== now) crossings.push(`${id}>${variant}:${now}`)
    }
  const shortfalls = [...facts]
    .filter(shelf => isShort(world, shelf))
    .map(shelf => `${shelf.item}@${shelf.place}`)
  return { results, moves, crossings: crossings.sort(), shortfalls: shortfalls.sort() }
}

function doOne(world: World, act: Act, moves: Move[], facts: Set<Shelf>): Result {
  const later = mustWait(world, act)
  if (later.length > 0) return { kind: 'later', items: later }
  const move = (
    shelf: Shelf,
    kind: string,
    onHandDelta: number,
    reservedDelta: number,
    allowed: number | null = null,
    operation = act.id
  ) => {
    shelf.onHand += onHandDelta
    shelf.reserved += reservedDelta
    shelf.seq += 1
    const { item, place, seq, onHand, reserved } = shelf
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
      operation
    })
  }
  if (act.verb === 'reserve') return reserve(world, act, move)
  if (act.verb === 'take') return take(world, act, move)
  if (act.verb === 'drop' || act.verb === 'expire') {
    const rows = world.rows.filter(row => row.owner === act.owner)
    if (act.verb === 'expire' && rows.some(row => row.busy)) return { kind: 'done' }
    for (const row of rows)
      if (row.state === 'held' && (act.verb === 'drop' || row.due)) giveBack(world, row, left(row), move)
    return { kind: 'done' }
  }
  if (act.verb === 'count' || act.verb === 'adjust') return recount(world, act, move, facts)
  if (act.verb === 'unship') return unship(world, act, move, facts)
  const leave = (shelf: Shelf, quantity: number, promised: number) => {
    move(shelf, 'ship', -quantity, -promised)
    facts.add(shelf)
    const { item, place } = shelf
    world.gone.push({ shipment: act.id, owner: act.owner, item, place, quantity, promised })
  }
  for (const { item, quantity } of act.lines === null
    ? everything(world, act.owner, act.verb)
    : merged(act.lines)) {
    let rest = quantity
    if (act.verb !== 'return')
      for (const shelf of shelvesOf(world, item)) {
        if (act.place !== null && shelf.place !== act.place) continue
        const row = world.rows.find(
          each => each.owner === act.owner && each.item === item && each.place === shelf.place
        )
        const share = row === undefined ? 0 : Math.min(rest, left(row))
        if (row === undefined || share === 0) continue
        rest -= share
        if (act.verb === 'release') giveBack(world, row, share, move)
        else {
          row.fulfilled += share
          if (row.fulfilled === row.quantity) row.state = 'closed'
          leave(shelf, share, share)
        }
      }
    if (rest === 0 || act.verb === 'release' || act.lines === null || !isTracked(world, item)) continue
    const shelf = factShelf(world, item, act.place)
    if (act.verb === 'ship') leave(shelf, rest, 0)
    else move(shelf, act.verb, rest, 0)
  }
  return { kind: 'done' }
}

type Mover = (
  shelf: Shelf,
  kind: string,
  onHandDelta: number,
  reservedDelta: number,
  allowed?: number | null,
  operation?: string
) => void

const goneWith = (world: World, { shipment, owner }: Extract<Act, { verb: 'unship' }>) =>
  world.gone.filter(each => each.shipment === shipment && each.owner === owner)

/** Returns each unit to its shelf, and reserves it if it was reserved; a closed row opens again. */
function unship(world: World, act: Extract<Act, { verb: 'unship' }>, move: Mover, facts: Set<Shelf>): Result {
  const back = goneWith(world, act)
  if (back.length === 0) return { kind: 'nothing' }
  world.gone = world.gone.filter(each => !back.includes(each))
  for (const { item, place, quantity, promised } of back) {
    const isIts = (row: Row) => row.owner === act.owner && row.item === item && row.place === place
    for (let unit = 0; unit < promised; unit++) {
      const row = world.rows.find(isIts)
      if (row === undefined) {
        const one = { owner: act.owner, item, place, quantity: 1, fulfilled: 0 }
        world.rows.push({ ...one, state: 'confirmed', due: false, busy: false })
        continue
      }
      // Released units are no longer reserved.
      if (row.state === 'closed') row.quantity = row.fulfilled
      if (row.state === 'closed') row.state = 'confirmed'
      if (row.fulfilled > 0) row.fulfilled -= 1
      else row.quantity += 1
    }
    const shelf = shelvesOf(world, item).find(each => each.place === place) as Shelf
    move(shelf, 'unship', quantity, promised, null, act.shipment)
    facts.add(shelf)
  }
  return { kind: 'done' }
}

const merged = (lines: Line[]): Line[] =>
  Object.entries(tally(lines)).map(([item, quantity]) => ({ item, quantity }))
/** The lines of an act without lines: all open units of the owner, or none for a return. */
function everything(world: World, owner: string, verb: string): Line[] {
  if (verb === 'return') return []
  const rows = world.rows.filter(row => row.owner === owner && row.state !== 'closed')
  return merged(rows.map(row => ({ item: row.item, quantity: left(row) })))
}

function factShelf(world: World, item: string, place: string | null): Shelf {
  const shelves = shelvesOf(world, item)
  const shelf =
    place !== null
      ? shelves.find(each => each.place === place)
      : (shelves.find(each => each.place === world.home) ??
        shelves.find(each => isActive(world, each)) ??
        shelves[0])
  if (shelf === undefined) throw new Error(`${item} has no shelf`)
  return shelf
}

function giveBack(world: World, row: Row, quantity: number, move: Mover): void {
  if (left(row) === quantity) row.state = 'closed'
  else row.quantity -= quantity
  move(shelvesOf(world, row.item).find(each => each.place === row.place) as Shelf, 'release', 0, -quantity)
}

/** Returns the locked items that an act has to wait for. */
function mustWait(world: World, act: Act): string[] {
  const items = new Set<string>()
  const needed: string[] =
    act.verb === 'reserve'
      ? act.basket.flatMap(({ variant }) => partsOf(world, variant).map(part => part.item))
      : act.verb === 'drop' || act.verb === 'expire' || act.verb === 'release'
        ? []
        : act.verb === 'unship'
          ? goneWith(world, act).map(({ item }) => item)
          : (act.lines ?? []).map(line => line.item)
  const isMovedAnyway = !('owner' in act) || act.verb === 'unship'
  for (const item of needed)
    if (world.locked.includes(item) && (isMovedAnyway || isTracked(world, item))) items.add(item)
  if (!('owner' in act) || act.verb === 'return') return [...items].sort()
  const rows = world.rows.filter(row => row.owner === act.owner)
  if (act.verb === 'expire' && rows.some(row => row.busy)) return []
  for (const row of rows) {
    const isMeant =
      act.verb === 'drop'
        ? row.state === 'held'
        : act.verb === 'expire'
          ? row.state === 'held' && row.due
          : row.state !== 'closed'
    if (row.busy || (isMeant && world.locked.includes(row.item))) items.add(row.item)
  }
  return [...items].sort()
}

function reserve(world: World, act: Extract<Act, { verb: 'reserve' }>, move: Mover): Result {
  const mine = world.rows.filter(row => row.owner === act.owner && row.state !== 'closed')
  const all = act.basket.flatMap(({ variant, quantity }) =>
    partsOf(world, variant).map(part => ({ item: part.item, quantity: part.quantity * quantity }))
  )
  const wanted = all.filter(({ item }) => isTracked(world, item) || mine.some(row => row.item === item))
  if (mine.length > 0 && sameTally(tally(mine), tally(wanted))) {
    if (mine.every(row => row.state === 'held')) for (const row of mine) row.due = false
    return { kind: 'reserved', contested: [] }
  }
  if (mine.some(row => row.state !== 'held')) return { kind: 'taken' }

  // The trial world is one in which the owner has released the held units.
  const scratch = copyOf(world)
  for (const row of mine) {
    const shelf = scratch.shelves.find(each => each.item === row.item && each.place === row.place) as Shelf
    shelf.reserved -= left(row)
  }
  const returned = copyOf(scratch)
  const short: { variant: string; requested: number; available: number }[] = []
  for (const { variant, quantity } of act.basket) {
    const trial = copyOf(scratch)
    let available = 0
    while (available < quantity && takeOne(trial, partsOf(world, variant))) available += 1
    if (available < quantity) short.push({ variant, requested: quantity, available })
    else scratch.shelves = trial.shelves
  }
  const contested = short.length > 0 ? contestedOf(returned, merged(wanted)) : []
  const { contest } = act
  if (short.length > 0 && contest === null) return { kind: 'short', lines: short }
  if (contested.some(({ item, quantity }) => quantity > (contest?.[item] ?? 0)))
    return { kind: 'short', lines: short }

  for (const row of mine) giveBack(world, row, left(row), move)
  for (const { item, quantity: all } of merged(wanted)) {
    if (!isTracked(world, item)) continue
    const quantity = all - (contested.find(each => each.item === item)?.quantity ?? 0)
    if (quantity === 0) continue
    for (const [shelf, share] of split(world, item, quantity)) {
      const allowed = allowedAt(world, shelf)
      move(shelf, 'reserve', 0, share, allowed)
      world.rows = world.rows.filter(
        row => !(row.owner === act.owner && row.item === item && row.place === shelf.place)
      )
      world.rows.push({
        owner: act.owner,
        item,
        place: shelf.place,
        quantity: share,
        fulfilled: 0,
        state: 'held',
        due: false,
        busy: false
      })
    }
  }
  return { kind: 'reserved', contested }
}

/** Returns the units that cannot be promised. */
function contestedOf(world: World, wanted: Line[]): Line[] {
  const contested: Line[] = []
  for (const { item, quantity } of wanted)
    for (let unit = 0; unit < quantity; unit++)
      if (!takeOne(world, [{ item, quantity: 1 }])) contested.push({ item, quantity: 1 })
  return merged(contested)
}

/** Takes each unit from free stock, or from the first victim that has one. */
function take(world: World, act: Extract<Act, { verb: 'take' }>, move: Mover): Result {
  const lines = merged(act.lines).filter(({ item }) => isTracked(world, item))
  const scratch = copyOf(world)
  const given: { row: Row; quantity: number }[] = []
  const leftOf = (row: Row) => left(row) - given.filter(each => each.row === row).length
  const giver = (item: string) => {
    for (const { owner, keep } of act.victims) {
      let has = 0
      for (const row of world.rows) if (row.owner === owner && row.item === item) has += leftOf(row)
      if (owner === act.owner || has <= (tally(keep)[item] ?? 0)) continue
      for (const shelf of shelvesOf(scratch, item)) {
        const row = world.rows.find(
          each => each.owner === owner && each.item === item && each.place === shelf.place
        )
        const isUnpaid = row?.state === 'claimed' && row.fulfilled === 0 && !row.busy
        if (row !== undefined && isUnpaid && isActive(world, shelf) && leftOf(row) > 0) return { shelf, row }
      }
    }
    return undefined
  }
  const short: { variant: string; requested: number; available: number }[] = []
  for (const { item, quantity } of lines) {
    let units = 0
    while (units < quantity) {
      if (takeOne(scratch, [{ item, quantity: 1 }])) {
        units += 1
        continue
      }
      const from = giver(item)
      if (from === undefined) break
      from.shelf.reserved -= 1
      given.push({ row: from.row, quantity: 1 })
    }
    if (units < quantity) short.push({ variant: item, requested: quantity, available: units })
  }
  if (short.length > 0) return { kind: 'short', lines: short }

  for (const row of new Set(given.map(each => each.row)))
    giveBack(world, row, given.filter(each => each.row === row).length, move)
  for (const { item, quantity } of lines)
    for (const [shelf, share] of split(world, item, quantity)) {
      move(shelf, 'reserve', 0, share, allowedAt(world, shelf))
      const isMine = (row: Row) => row.owner === act.owner && row.item === item && row.place === shelf.place
      const mine = world.rows.find(row => isMine(row) && row.state !== 'closed')
      world.rows = world.rows.filter(row => !isMine(row))
      const [quantity, fulfilled] = [(mine?.quantity ?? 0) + share, mine?.fulfilled ?? 0]
      const place = { owner: act.owner, item, place: shelf.place }
      world.rows.push({ ...place, quantity, fulfilled, state: 'confirmed', due: false, busy: false })
    }
  const owners = new Set(given.map(({ row }) => row.owner))
  const lost = [...owners].map(owner => ({
    owner,
    lines: merged(
      given
        .filter(({ row }) => row.owner === owner)
        .map(({ row, quantity }) => ({ item: row.item, quantity }))
    )
  }))
  return { kind: 'took', lost }
}

function split(world: World, item: string, quantity: number): [Shelf, number][] {
  const selling = shelvesOf(world, item).filter(shelf => isActive(world, shelf))
  for (const shelf of selling) if (promisable(shelf) - shelf.reserved >= quantity) return [[shelf, quantity]]
  const scratch = copyOf(world)
  const shares: number[] = selling.map(() => 0)
  for (let unit = 0; unit < quantity; unit++) {
    const next = nextUnit(scratch, item) as Shelf
    next.reserved += 1
    const index = selling.findIndex(shelf => shelf.place === next.place)
    shares[index] = (shares[index] as number) + 1
  }
  return selling
    .map((shelf, index): [Shelf, number] => [shelf, shares[index] as number])
    .filter(([, share]) => share > 0)
}

function allowedAt(world: World, shelf: Shelf): number | null {
  const about = good(world, shelf.item) as Good
  if (about.backorder === 'any') return null
  let elsewhere = 0
  for (const each of shelvesOf(world, shelf.item)) if (each !== shelf) elsewhere += awaited(each)
  const waiting = about.backorder === 'limit' ? about.limit - elsewhere : 0
  return promisable(shelf) + (waiting > 0 ? waiting : 0)
}

function recount(
  world: World,
  act: Extract<Act, { verb: 'count' | 'adjust' }>,
  move: Mover,
  facts: Set<Shelf>
): Result {
  const stale = new Set<string>()
  const touched = new Set<Shelf>()
  for (const line of act.lines) {
    const isThere = world.shelves.some(({ item, place }) => item === line.item && place === line.place)
    if (!isThere && !isTracked(world, line.item)) continue
    const shelf = factShelf(world, line.item, line.place)
    if ('delta' in line) {
      if (line.delta !== 0) move(shelf, 'adjust', line.delta, 0)
    } else {
      if (line.version !== null && shelf.version !== null && line.version <= shelf.version) {
        stale.add(line.item)
        continue
      }
      if (line.version !== null) shelf.version = line.version
      if (line.safety !== null) shelf.safety = line.safety
      if (line.onHand !== null && line.onHand !== shelf.onHand)
        move(shelf, 'count', line.onHand - shelf.onHand, 0)
    }
    touched.add(shelf)
    facts.add(shelf)
  }
  const short = [...touched].filter(shelf => isShort(world, shelf)).map(shelf => shelf.item)
  return { kind: 'counted', stale: [...stale], short: [...new Set(short)] }
}
