import type { ModelItem, ModelLevel, ModelOperation, ModelStock, StockLine } from './stock-model-types.ts'

export type HistoryStep =
  | { kind: 'batch'; operations: ModelOperation[]; locked: string[]; busy: string | undefined }
  | { kind: 'claim' | 'confirm' | 'come due'; owner: string }
  | { kind: 'forget' }
  | { kind: 'item'; item: ModelItem }
  | { kind: 'place'; id: string; active: boolean }
type Shipment = { id: string; owner: string }
type Basket = { variant: string; quantity: number }[]
export type History = { world: ModelStock; steps: HistoryStep[] }

const ITEMS = ['a', 'b', 'c']
const VARIANTS = [...ITEMS, ...ITEMS, 'k', 'k', 'l', 'l', 'unknown']
const PLACES = ['p', 'q', 'r']
const OWNERS = ['ann', 'bob', 'cid']
const KITS = [
  { variant: 'k', item: 'a', quantity: 2 },
  { variant: 'k', item: 'b', quantity: 1 },
  { variant: 'l', item: 'a', quantity: 1 },
  { variant: 'l', item: 'c', quantity: 3 }
]

/** Numbers that look random and are the same for the same seed (mulberry32). */
function createDice(seed: number) {
  let state = seed
  function roll(sides: number): number {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % sides
  }
  const pick = <T>(of: readonly T[]): T => of[roll(of.length)] as T
  /** Returns 1 to `most` items. */
  const some = <T>(most: number, make: () => T): T[] => Array.from({ length: 1 + roll(most) }, make)
  return { roll, pick, some, isOne: (of: number) => roll(of) === 0 }
}
type Dice = ReturnType<typeof createDice>

/** A small stock with few items, so that owners compete for the same ones. */
export function createHistory(seed: number): History {
  const dice = createDice(seed)
  const world: ModelStock = {
    items: ITEMS.map(id => createItem(dice, id)),
    kits: KITS,
    locations: PLACES.slice(0, 1 + dice.roll(3)).map(id => ({ id, active: !dice.isOne(5) })),
    home: 'p',
    levels: [],
    reservations: [],
    shippedUnits: [],
    locked: [],
    itemsWithoutLevel: []
  }
  for (const item of ITEMS)
    for (const place of world.locations)
      if (!dice.isOne(4)) world.levels.push(createLevel(dice, item, place.id))
  let ids = 0
  // Requests for items that the owner already has.
  const favourites = [basketOf(dice), basketOf(dice)]
  const shipments: Shipment[] = []
  const nextOperation = (): ModelOperation => {
    const operation = createOperation(dice, world, `op${ids++}`, { favourites, shipments })
    if (operation.verb === 'ship') shipments.push(operation)
    return operation
  }
  const nextId = () => `op${ids++}`
  const steps = dice.some(8, () => stepsOf(dice, world, nextOperation, nextId)).flat()
  return { world, steps }
}

const createItem = (dice: Dice, id: string): ModelItem => ({
  id,
  isTracked: !dice.isOne(8),
  backorder: dice.pick(['none', 'none', 'none', 'limit', 'limit', 'any']),
  backorderLimit: dice.roll(5),
  lowThreshold: dice.pick([null, 1, 3])
})
const createLevel = (dice: Dice, item: string, place: string): ModelLevel => ({
  item,
  place,
  onHand: dice.roll(9) - 1,
  reserved: 0,
  safety: dice.pick([0, 0, 0, 1, 2]),
  seq: dice.roll(3),
  version: dice.pick([null, null, 3])
})

function stepsOf(
  dice: Dice,
  world: ModelStock,
  actOf: () => ModelOperation,
  nextId: () => string
): HistoryStep[] {
  const owner = dice.pick(OWNERS)
  const batch: HistoryStep = {
    kind: 'batch',
    operations: dice.some(5, actOf),
    locked: dice.isOne(8) ? [dice.pick(ITEMS)] : [],
    busy: dice.isOne(10) ? dice.pick(OWNERS) : undefined
  }
  switch (dice.roll(16)) {
    case 0:
    case 1:
      return [{ kind: 'claim', owner }, batch]
    case 2:
      return [{ kind: 'confirm', owner }, batch]
    case 3:
      return [
        { kind: 'come due', owner },
        { ...batch, operations: [...batch.operations, { verb: 'expire', id: 'sweep', owner }] }
      ]
    case 12:
    case 13:
      return [{ kind: 'forget' }, batch]
    case 14:
    case 15: {
      // One owner claims a whole item, and another one has paid for some of it.
      const item = dice.pick(ITEMS)
      const all = { variant: item, quantity: 1 + dice.roll(8) }
      const [fresh, taker] = [{ id: nextId(), owner, contest: { [item]: 9 } }, dice.pick(OWNERS)]
      const victims = dice.isOne(2) ? victimsOf(dice, () => [{ item, quantity: 1 }]) : [{ owner, keep: [] }]
      const lines = [{ item, quantity: 1 + dice.roll(4) }]
      return [
        { ...batch, operations: [{ verb: 'reserve', ...fresh, basket: [all] }] },
        { kind: 'claim', owner },
        {
          ...batch,
          operations: [...batch.operations, { verb: 'take', id: nextId(), owner: taker, lines, victims }]
        }
      ]
    }
    case 4:
      return [{ kind: 'item', item: createItem(dice, dice.pick(ITEMS)) }]
    case 5:
      return [{ kind: 'place', id: dice.pick(world.locations).id, active: !dice.isOne(3) }]
    default:
      return [batch]
  }
}

function createOperation(
  dice: Dice,
  world: ModelStock,
  id: string,
  { favourites, shipments }: { favourites: Basket[]; shipments: Shipment[] }
): ModelOperation {
  const owner = dice.pick(OWNERS)
  const placeId = () => dice.pick(world.locations).id
  const place = dice.isOne(3) ? placeId() : null
  const linesOf = (): StockLine[] =>
    dice.some(2, () => ({ item: dice.isOne(9) ? 'unknown' : dice.pick(ITEMS), quantity: 1 + dice.roll(3) }))
  const kind = dice.roll(29)
  const shipment = dice.pick(shipments.slice(-4))
  if (kind > 25) return { verb: 'take', id, owner, lines: linesOf(), victims: victimsOf(dice, linesOf) }
  if (kind > 21 && shipment !== undefined)
    return { verb: 'unship', id, owner: dice.isOne(8) ? owner : shipment.owner, shipment: shipment.id }
  if (kind < 11)
    return {
      verb: 'reserve',
      id,
      owner,
      basket: dice.isOne(2) ? dice.pick(favourites) : basketOf(dice),
      contest: dice.isOne(3) ? Object.fromEntries(ITEMS.map(item => [item, dice.roll(7)])) : null
    }
  if (kind < 12) return { verb: 'drop', id, owner }
  if (kind < 13) return { verb: 'expire', id, owner }
  if (kind < 15) return { verb: 'release', id, owner, lines: dice.isOne(2) ? null : linesOf(), place }
  if (kind < 17) return { verb: 'ship', id, owner, lines: dice.isOne(3) ? null : linesOf(), place }
  if (kind < 18) return { verb: 'return', id, owner, lines: dice.isOne(9) ? null : linesOf(), place }
  const at = () => ({ item: dice.isOne(9) ? 'unknown' : dice.pick(ITEMS), place: placeId() })
  if (kind === 21)
    return { verb: 'adjust', id, lines: dice.some(2, () => ({ ...at(), delta: dice.roll(9) - 5 })) }
  const lines = dice.some(2, () => ({
    ...at(),
    onHand: dice.isOne(5) ? null : dice.roll(8),
    safety: dice.isOne(3) ? dice.roll(3) : null,
    version: dice.isOne(2) ? 1 + dice.roll(6) : null
  }))
  return { verb: 'count', id, lines }
}

const victimsOf = (dice: Dice, linesOf: () => StockLine[]) =>
  [...new Set(dice.some(3, () => dice.pick(OWNERS)))].map(owner => ({
    owner,
    keep: dice.isOne(3) ? linesOf() : []
  }))

/** Different variants, as the lines of a cart are; kits share their parts with each other and with plain ones. */
function basketOf(dice: Dice): Basket {
  const variants = new Set(dice.some(3, () => dice.pick(VARIANTS)))
  return [...variants].map(variant => ({ variant, quantity: 1 + dice.roll(dice.isOne(4) ? 6 : 2) }))
}
