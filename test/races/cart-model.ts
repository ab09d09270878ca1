import type { CartMergeReport } from '../../src/modules/cart/merge/service.ts'

/** A model of carts in memory with every rule, to which the real carts are compared. */
export type ModelCart = { lines: ModelLine[]; version: number }
export type ModelLine = { variant: number; text: number; quantity: number; id: number }
export type ModelGuest = ModelCart & { state: 'open' | 'expired' | { mergedInto: number } }
export type Model = {
  customers: ModelCart[]
  guests: ModelGuest[]
  /** Variants that are not sold at present. */
  withdrawn: Set<number>
  limits: { lineQuantityMax: number; linesMax: number }
  /** Number of ids of lines so far. */
  lineIds: number
}
/** A condition on a write: none, the present version, an old one, or "an earlier try was committed". */
export type Condition = 'none' | 'present' | 'old' | 'applied'
export type Owner = { kind: 'customer' | 'guest'; index: number }
export type Strategy = CartMergeReport['strategy']
/** `text`: an engraving; 0 for none. */
export type Item = { variant: number; text: number; quantity: number }
export type Change =
  | { verb: 'add' | 'set'; item: Item }
  | { verb: 'remove'; variant: number }
  /** `line`: its position in the cart. Null: not changed. */
  | { verb: 'change line'; line: number; quantity: number | null; text: number | null }
  | { verb: 'remove line'; line: number }
  | { verb: 'clear' }

export class Refused extends Error {}

export const newModel = (limits: Model['limits']): Model => ({
  customers: [
    { lines: [], version: 0 },
    { lines: [], version: 0 }
  ],
  guests: [],
  withdrawn: new Set(),
  limits,
  lineIds: 0
})

/** Returns the cart of the owner. @throws Refused when a guest's cart is not open. */
function open(model: Model, { kind, index }: Owner): ModelCart {
  if (kind === 'customer') return model.customers[index] as ModelCart
  const guest = model.guests[index]
  if (guest?.state !== 'open') throw new Refused('CART_GUEST_NOT_FOUND')
  return guest
}

export function change(model: Model, owner: Owner, wanted: Change, condition: Condition): ModelCart {
  const cart = open(model, owner)
  if (condition === 'applied') return cart
  if (condition === 'old') throw new Refused('CART_VERSION_STALE')
  const before = JSON.stringify(cart.lines)
  const isPut = apply(model, cart, wanted)
  if (isPut || JSON.stringify(cart.lines) !== before) cart.version += 1
  return cart
}

/** Applies a change. Returns whether it raises the version also when nothing differs. */
function apply(model: Model, cart: ModelCart, wanted: Change): boolean {
  if (wanted.verb === 'change line') return changeLine(model, cart, wanted)
  if (wanted.verb === 'add') {
    add(model, cart, wanted.item)
    return true
  }
  if (wanted.verb === 'set') {
    put(model, cart, wanted.item)
    return true
  }
  if (wanted.verb === 'remove') {
    const lines = cart.lines.filter(each => each.variant === wanted.variant)
    if (lines.length > 1) throw new Refused('CART_LINE_AMBIGUOUS')
    cart.lines = cart.lines.filter(line => line.variant !== wanted.variant)
  } else if (wanted.verb === 'remove line') {
    if (cart.lines[wanted.line] === undefined) throw new Refused('CART_LINE_NOT_FOUND')
    cart.lines = cart.lines.filter((_, index) => index !== wanted.line)
  } else cart.lines = []
  return false
}

const unitsOf = ({ lines }: ModelCart, variant: number): number =>
  lines.filter(line => line.variant === variant).reduce((sum, line) => sum + line.quantity, 0)

function assertQuantity(model: Model, cart: ModelCart, variant: number, added: number): void {
  if (added > 0 && unitsOf(cart, variant) + added > model.limits.lineQuantityMax)
    throw new Refused('CART_QUANTITY_LIMIT')
  if (model.withdrawn.has(variant)) throw new Refused('CART_VARIANT_UNAVAILABLE')
}

function add(model: Model, cart: ModelCart, item: Item): void {
  const { variant, text, quantity } = item
  const line = cart.lines.find(each => each.variant === variant && each.text === text)
  if (line === undefined && cart.lines.length >= model.limits.linesMax) throw new Refused('CART_LINE_LIMIT')
  assertQuantity(model, cart, variant, quantity)
  if (line === undefined) cart.lines.push({ ...item, id: newLineId(model) })
  else line.quantity += quantity
}

function put(model: Model, cart: ModelCart, { variant, quantity }: Item): void {
  const [line, ...others] = cart.lines.filter(each => each.variant === variant)
  if (others.length > 0) throw new Refused('CART_LINE_AMBIGUOUS')
  if (line === undefined) throw new Refused('CART_ITEM_NOT_FOUND')
  assertQuantity(model, cart, variant, quantity - line.quantity)
  line.quantity = quantity
}

function changeLine(
  model: Model,
  cart: ModelCart,
  wanted: Extract<Change, { verb: 'change line' }>
): boolean {
  const line = cart.lines[wanted.line]
  if (line === undefined) throw new Refused('CART_LINE_NOT_FOUND')
  if (wanted.quantity !== null) assertQuantity(model, cart, line.variant, wanted.quantity - line.quantity)
  line.quantity = wanted.quantity ?? line.quantity
  line.text = wanted.text ?? line.text
  const [older, newer] = cart.lines.filter(each => each.variant === line.variant && each.text === line.text)
  if (older !== undefined && newer !== undefined) {
    older.quantity += newer.quantity
    cart.lines = cart.lines.filter(each => each !== newer)
  }
  return wanted.quantity !== null || wanted.text !== null
}

const newLineId = (model: Model): number => {
  model.lineIds += 1
  return model.lineIds
}

export function createGuest(model: Model, item: Item): ModelGuest {
  const guest: ModelGuest = { lines: [], version: 0, state: 'open' }
  model.guests.push(guest)
  try {
    change(model, { kind: 'guest', index: model.guests.length - 1 }, { verb: 'add', item }, 'none')
  } catch (error) {
    model.guests.pop()
    throw error
  }
  return guest
}

/** Expires a cart: a customer's cart becomes empty, and a guest's cart is deleted. */
export function expire(model: Model, { kind, index }: Owner): void {
  if (kind === 'guest') {
    const guest = model.guests[index]
    if (guest?.state === 'open') guest.state = 'expired'
    return
  }
  const cart = model.customers[index] as ModelCart
  if (cart.lines.length > 0) cart.version += 1
  cart.lines = []
}

type Report = {
  status: CartMergeReport['status']
  moved: number
  cuts: [number, number, number, number, string][]
}
const untouched = (status: Report['status']): Report => ({ status, moved: 0, cuts: [] })

export function merge(
  model: Model,
  customer: number,
  source: { guest: number } | { items: Item[] },
  strategy: Strategy,
  condition: Condition
): Report {
  if (condition === 'applied') return untouched('already_merged')
  const cart = model.customers[customer] as ModelCart
  const guest = 'guest' in source ? model.guests[source.guest] : undefined
  if ('guest' in source) {
    if (typeof guest?.state === 'object' && guest.state.mergedInto === customer)
      return untouched('already_merged')
    if (guest?.state !== 'open') throw new Refused('CART_GUEST_NOT_FOUND')
  }
  if (condition === 'old') throw new Refused('CART_VERSION_STALE')
  const items = 'items' in source ? source.items : (guest?.lines ?? [])
  const report = pour(model, cart, items, strategy)
  if (report.moved > 0) cart.version += 1
  if (guest !== undefined) guest.state = { mergedInto: customer }
  return items.length === 0 ? untouched('nothing_to_merge') : report
}

function pour(model: Model, cart: ModelCart, items: (Item & { id?: number })[], strategy: Strategy): Report {
  const report: Report = { status: 'merged', moved: 0, cuts: [] }
  const summed: (Item & { id?: number })[] = []
  for (const item of items) {
    const same = summed.find(each => each.variant === item.variant && each.text === item.text)
    if (same === undefined) summed.push({ ...item })
    else same.quantity += item.quantity
  }
  const isOwn = (item: Item) => (line: ModelLine) => line.variant === item.variant && line.text === item.text
  const outcomes = new Map<Item, { had: number; asked: number; got: number; isBlocked: boolean }>()
  for (const variant of new Set(summed.map(item => item.variant))) {
    // The variant's units that a merge never takes from the cart.
    let units = unitsOf(cart, variant)
    let openLines = model.limits.linesMax - cart.lines.length
    const wanted = summed.filter(item => item.variant === variant)
    const asks = wanted.map(item => {
      const had = cart.lines.find(isOwn(item))?.quantity ?? 0
      const { quantity } = item
      const by = {
        sum: had + quantity,
        max: Math.max(had, quantity),
        guest: quantity,
        customer: had || quantity
      }
      return { item, had, asked: by[strategy] }
    })
    for (const { had, asked } of asks) units -= Math.max(0, had - asked)
    for (const { item, had, asked } of asks) {
      const isBlocked = model.withdrawn.has(variant) || (had === 0 && openLines <= 0)
      if (had === 0) openLines -= 1
      const room = isBlocked ? 0 : Math.max(0, model.limits.lineQuantityMax - units)
      const got = Math.min(asked, had) + Math.min(Math.max(0, asked - had), room)
      units += Math.max(0, got - had)
      outcomes.set(item, { had, asked, got, isBlocked })
      if (got > 0 && had === 0) cart.lines.push({ ...item, quantity: got, id: item.id ?? newLineId(model) })
    }
  }
  for (const item of summed) {
    const { had, asked, got, isBlocked } = outcomes.get(item) as NonNullable<ReturnType<typeof outcomes.get>>
    if (got < asked)
      report.cuts.push([item.variant, item.text, asked, got, reasonOf(model, item.variant, isBlocked)])
    if (got === had) continue
    report.moved += 1
    const line = cart.lines.find(isOwn(item)) as ModelLine
    line.quantity = got
    // New lines come last, in the order of the guest's.
    if (had === 0) cart.lines = [...cart.lines.filter(each => each !== line), line]
  }
  return report
}

function reasonOf(model: Model, variant: number, blocked: boolean): string {
  if (model.withdrawn.has(variant)) return 'unavailable'
  return blocked ? 'line_limit' : 'quantity_limit'
}
