import type { CartMergeReport } from '../../src/modules/cart/merge/service.ts'

/** A model of carts in memory with every rule, to which the real carts are compared. */
export type ModelCart = { lines: { variant: number; quantity: number }[]; version: number }
export type ModelGuest = ModelCart & { state: 'open' | 'expired' | { mergedInto: number } }
export type Model = {
  customers: ModelCart[]
  guests: ModelGuest[]
  /** Variants that are not sold at present. */
  withdrawn: Set<number>
  limits: { lineQuantityMax: number; linesMax: number }
}
/** A condition on a write: none, the present version, an old one, or "an earlier try was committed". */
export type Condition = 'none' | 'present' | 'old' | 'applied'
export type Owner = { kind: 'customer' | 'guest'; index: number }
export type Strategy = CartMergeReport['strategy']
export type Item = { variant: number; quantity: number }
export type Change =
  | { verb: 'add' | 'set'; item: Item }
  | { verb: 'remove'; variant: number }
  | { verb: 'clear' }

export class Refused extends Error {}

export const newModel = (limits: Model['limits']): Model => ({
  customers: [
    { lines: [], version: 0 },
    { lines: [], version: 0 }
  ],
  guests: [],
  withdrawn: new Set(),
  limits
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
  if (wanted.verb === 'add' || wanted.verb === 'set') put(model, cart, wanted.verb, wanted.item)
  else if (wanted.verb === 'remove') cart.lines = cart.lines.filter(line => line.variant !== wanted.variant)
  else cart.lines = []
  const isPut = wanted.verb === 'add' || wanted.verb === 'set'
  if (isPut || JSON.stringify(cart.lines) !== before) cart.version += 1
  return cart
}

function put(model: Model, cart: ModelCart, verb: 'add' | 'set', { variant, quantity }: Item): void {
  const line = cart.lines.find(each => each.variant === variant)
  if (line === undefined && verb === 'set') throw new Refused('CART_ITEM_NOT_FOUND')
  if (line === undefined && cart.lines.length >= model.limits.linesMax) throw new Refused('CART_LINE_LIMIT')
  const wanted = verb === 'add' ? (line?.quantity ?? 0) + quantity : quantity
  if (wanted > model.limits.lineQuantityMax) throw new Refused('CART_QUANTITY_LIMIT')
  if (model.withdrawn.has(variant)) throw new Refused('CART_VARIANT_UNAVAILABLE')
  if (line === undefined) cart.lines.push({ variant, quantity: wanted })
  else line.quantity = wanted
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

type Report = { status: CartMergeReport['status']; moved: number; cuts: [number, number, number, string][] }
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

function pour(model: Model, cart: ModelCart, items: Item[], strategy: Strategy): Report {
  const report: Report = { status: 'merged', moved: 0, cuts: [] }
  const { lineQuantityMax, linesMax } = model.limits
  for (const variant of new Set(items.map(item => item.variant))) {
    const guests = items
      .filter(item => item.variant === variant)
      .reduce((sum, item) => sum + item.quantity, 0)
    const line = cart.lines.find(each => each.variant === variant)
    const had = line?.quantity ?? 0
    const asked = { sum: had + guests, max: Math.max(had, guests), guest: guests, customer: had || guests }[
      strategy
    ]
    const blocked = model.withdrawn.has(variant) || (had === 0 && cart.lines.length >= linesMax)
    const possible = blocked ? 0 : lineQuantityMax
    const got = asked <= had ? asked : Math.max(had, Math.min(asked, possible))
    if (got < asked) report.cuts.push([variant, asked, got, reasonOf(model, variant, blocked)])
    if (got === had) continue
    report.moved += 1
    if (line === undefined) cart.lines.push({ variant, quantity: got })
    else line.quantity = got
  }
  return report
}

function reasonOf(model: Model, variant: number, blocked: boolean): string {
  if (model.withdrawn.has(variant)) return 'unavailable'
  return blocked ? 'line_limit' : 'quantity_limit'
}
