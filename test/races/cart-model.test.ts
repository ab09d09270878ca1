import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DomainError } from '../../src/kernel/errors.ts'
import { newId } from '../../src/kernel/ids.ts'
import type { CartLine } from '../../src/modules/cart/carts/lines.ts'
import { emptyExpiredCustomerCarts } from '../../src/modules/cart/carts/repository.ts'
import { createCartService } from '../../src/modules/cart/carts/service.ts'
import type { CartView } from '../../src/modules/cart/carts/view.ts'
import { deleteExpiredGuestCarts } from '../../src/modules/cart/guest/repository.ts'
import { createGuestCartService } from '../../src/modules/cart/guest/service.ts'
import { hashGuestCartToken } from '../../src/modules/cart/guest/token.ts'
import { createCartMergeService } from '../../src/modules/cart/merge/service.ts'
import {
  createIdempotentWrite,
  type IdempotentWrite,
  newWrite
} from '../../src/platform/idempotency/write.ts'
import { type CartShop, useCartShop } from '../support/use-cart-shop.ts'
import * as model from './cart-model.ts'

const HISTORIES = Number(process.env.HISTORIES ?? 1_000)
const AT_ONCE = 10
const VARIANTS = 5
const LIMITS = [
  { lineQuantityMax: 6, linesMax: 3 },
  { lineQuantityMax: 4, linesMax: 4 },
  { lineQuantityMax: 99, linesMax: 200 }
]
const IDLE_SECONDS = 30 * 86_400

const variant = fc.nat({ max: VARIANTS - 1 })
const text = fc.constantFrom(0, 0, 1, 2)
const quantity = fc.integer({ min: 1, max: 5 })
const item = fc.record({ variant, text, quantity })
const line = fc.nat({ max: 3 })
const customer = fc.nat({ max: 1 })
const owner = fc.record({
  kind: fc.constantFrom<model.Owner['kind']>('customer', 'guest'),
  index: fc.nat({ max: 1 })
})
const condition = fc.constantFrom<model.Condition>('none', 'none', 'none', 'present', 'old', 'applied')
const strategy = fc.constantFrom<model.Strategy>('sum', 'max', 'guest', 'customer')
const change = fc.oneof(
  { weight: 4, arbitrary: fc.record({ verb: fc.constant('add' as const), item }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('set' as const), item }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('remove' as const), variant }) },
  {
    weight: 4,
    arbitrary: fc.record({
      verb: fc.constant('change line' as const),
      line,
      quantity: fc.option(quantity),
      text: fc.option(text)
    })
  },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('remove line' as const), line }) },
  { weight: 1, arbitrary: fc.record({ verb: fc.constant('clear' as const) }) }
)
const source = fc.oneof(
  fc.record({ guest: fc.nat({ max: 2 }) }),
  fc.record({ items: fc.array(item, { maxLength: 4 }) })
)
const command = fc.oneof(
  { weight: 8, arbitrary: fc.record({ name: fc.constant('change' as const), owner, change, condition }) },
  { weight: 3, arbitrary: fc.record({ name: fc.constant('create guest' as const), item }) },
  {
    weight: 4,
    arbitrary: fc.record({ name: fc.constant('merge' as const), customer, source, strategy, condition })
  },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('expire' as const), owner }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('sell or withdraw' as const), variant }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('limit' as const), limits: fc.nat({ max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ name: fc.constant('sweep' as const) }) }
)
type Command = typeof command extends fc.Arbitrary<infer C> ? C : never

type Services = ReturnType<typeof servicesOf>
const servicesOf = ({ db, catalog, platform: { secrets } }: CartShop, limits: model.Model['limits']) => {
  const settings = { ...limits, idleSeconds: IDLE_SECONDS, currency: 'USD' }
  const deps = { db, emit: () => {}, catalog, inventory: undefined, settings }
  const cart = createCartService(deps)
  return {
    cart,
    guests: createGuestCartService({ db, cart, secrets, idleSeconds: IDLE_SECONDS }),
    merges: createCartMergeService({ ...deps, cart })
  }
}

/** The real carts of one history: what the numbers of the model stand for. */
function createReality(shop: CartShop, all: readonly Services[]) {
  const customers = [newId(), newId()]
  const variants = Array.from({ length: VARIANTS }, () => shop.catalog.sell())
  const tokens: string[] = []
  let services = all[0] as Services
  const lineOf = ({ variant, text, quantity }: model.Item) => ({
    id: newId(),
    variantId: variants[variant] ?? '',
    quantity,
    metadata: text === 0 ? {} : { text: `${text}` }
  })
  const patchOf = ({ quantity, text }: { quantity: number | null; text: number | null }) => ({
    ...(quantity !== null && { quantity }),
    ...(text !== null && { metadata: { text: text === 0 ? null : `${text}` } })
  })
  const ids = createNumbering<string>()
  const tokenOf = (guest: number) => tokens[guest] ?? `gct_${'x'.repeat(43)}`
  const guestOf = (guest: number) => ({ token: tokenOf(guest), market: null })
  const customerOf = (index: number) => ({ customerId: customers[index] ?? '', market: null })

  /** `lineId`: the id of the line at `wanted.line`. */
  function change(
    { kind, index }: model.Owner,
    wanted: model.Change,
    write: IdempotentWrite,
    lineId: string
  ): Promise<CartView> {
    const { cart, guests } = services
    const mine = kind === 'guest' ? guests.handleOf(guestOf(index)) : cart.handleOf(customerOf(index))
    if (wanted.verb === 'add') return cart.addItem(mine, lineOf(wanted.item), write)
    if (wanted.verb === 'set') return cart.updateItem(mine, lineOf(wanted.item), write)
    if (wanted.verb === 'remove') return cart.removeItem(mine, variants[wanted.variant] ?? '', write)
    if (wanted.verb === 'change line') return cart.updateLine(mine, lineId, patchOf(wanted), write)
    if (wanted.verb === 'remove line') return cart.removeLine(mine, lineId, write)
    return cart.clear(mine, write)
  }

  const pictureOfLine = ({ id, variantId, quantity, metadata }: CartLine) => ({
    variant: variants.indexOf(variantId),
    text: Number(metadata.text ?? 0),
    quantity,
    id: ids.numberOf(id)
  })

  return {
    change,
    createGuest: async (first: model.Item) => {
      const { token, view } = await services.guests.create(null, lineOf(first), newWrite())
      tokens.push(token)
      return view
    },
    merge: async (
      index: number,
      from: { guest: number } | { items: model.Item[] },
      by: model.Strategy,
      write: IdempotentWrite
    ) => {
      const real =
        'guest' in from ? { guestCartToken: tokenOf(from.guest) } : { items: from.items.map(lineOf) }
      const { view, report } = await services.merges.merge(customerOf(index), real, by, write)
      const cuts = report.adjustments.map(cut => {
        const { variantId, metadata, requested, granted, reason } = cut
        return [variants.indexOf(variantId), Number(metadata.text ?? 0), requested, granted, reason]
      })
      return { view, report: { status: report.status, moved: report.moved, cuts } }
    },
    expire: async ({ kind, index }: model.Owner) => {
      const hash = hashGuestCartToken(tokenOf(index))
      await shop.sql(
        `update cart.carts set expires_at = now() - interval '1 second' where cart_id =
           coalesce($1, (select cart_id from cart.guest_carts where token_hash = $2))`,
        kind === 'customer' ? [customers[index], null] : [null, hash]
      )
    },
    sell: (number: number) => void shop.catalog.sell({ variantId: variants[number] ?? '' }),
    withdraw: (number: number) => shop.catalog.withdraw(variants[number] ?? ''),
    limit: (index: number) => {
      services = all[index] as Services
    },
    view: (index: number) => services.cart.view(customerOf(index)),
    count: (index: number) => services.cart.count(customers[index] ?? ''),
    viewGuest: (index: number) => services.guests.view(guestOf(index)),
    /** A view in the words of the model; lines that cannot be bought come behind the others. */
    pictureOf: (view: CartView) => ({
      version: view.version,
      sold: view.lines.map(pictureOfLine),
      unsold: view.unavailable.map(pictureOfLine)
    }),
    lineIdOf: (number: number | undefined) => ids.valueOf(number) ?? newId()
  }
}

/** Numbers values in the order in which they first appear, so that ids of the model and of real lines can be compared. */
function createNumbering<T>() {
  const seen: T[] = []
  return {
    numberOf: (value: T): number => {
      if (!seen.includes(value)) seen.push(value)
      return seen.indexOf(value)
    },
    valueOf: (number = -1): T | undefined => seen[number]
  }
}

function createPictures() {
  const ids = createNumbering<number>()
  const pictureOfLine = (line: model.ModelLine) => ({ ...line, id: ids.numberOf(line.id) })
  return {
    pictureOf: ({ withdrawn }: model.Model, { lines, version }: model.ModelCart) => ({
      version,
      sold: lines.filter(line => !withdrawn.has(line.variant)).map(pictureOfLine),
      unsold: lines.filter(line => withdrawn.has(line.variant)).map(pictureOfLine)
    }),
    numberOf: ids.numberOf
  }
}
type Pictures = ReturnType<typeof createPictures>
const outcomeOf = async (act: () => unknown): Promise<unknown> => {
  try {
    return await act()
  } catch (error) {
    if (error instanceof DomainError) return error.code
    if (error instanceof model.Refused) return error.message
    throw error
  }
}
const writeOn = (version: number, wanted: model.Condition): IdempotentWrite =>
  createIdempotentWrite({
    id: newId(),
    resultId: null,
    isApplied: wanted === 'applied',
    expectedVersion: { none: null, applied: null, present: version, old: version + 1 }[wanted],
    mark: async () => {}
  })

async function live(shop: CartShop, all: readonly Services[], history: readonly Command[]): Promise<void> {
  const ideal = model.newModel(LIMITS[0] as model.Model['limits'])
  const real = createReality(shop, all)
  const pictures = createPictures()
  const { pictureOf } = pictures
  for (const step of history) await take(shop, step, { ideal, real, pictures })

  for (const [index, cart] of ideal.customers.entries()) {
    expect(real.pictureOf(await real.view(index))).toEqual(pictureOf(ideal, cart))
    const count = cart.lines.reduce((sum, line) => sum + line.quantity, 0)
    expect(await real.count(index)).toEqual({
      count,
      distinct_count: new Set(cart.lines.map(line => line.variant)).size
    })
  }
  for (const [index, guest] of ideal.guests.entries()) {
    const expected = guest.state === 'open' ? pictureOf(ideal, guest) : 'CART_GUEST_NOT_FOUND'
    expect(await outcomeOf(async () => real.pictureOf(await real.viewGuest(index)))).toEqual(expected)
  }
}

/** Takes one step in the model and in reality, and compares what they answer. */
async function take(
  shop: CartShop,
  step: Command,
  {
    ideal,
    real,
    pictures
  }: { ideal: model.Model; real: ReturnType<typeof createReality>; pictures: Pictures }
): Promise<void> {
  const { pictureOf } = pictures
  if (step.name === 'change') {
    const { kind, index } = step.owner
    const cart = (kind === 'customer' ? ideal.customers : ideal.guests)[index]
    const write = writeOn(cart?.version ?? 0, step.condition)
    const line = 'line' in step.change ? cart?.lines[step.change.line] : undefined
    const lineId = real.lineIdOf(line && pictures.numberOf(line.id))
    const wanted = await outcomeOf(() =>
      pictureOf(ideal, model.change(ideal, step.owner, step.change, step.condition))
    )
    const got = await outcomeOf(async () =>
      real.pictureOf(await real.change(step.owner, step.change, write, lineId))
    )
    expect(got).toEqual(wanted)
  } else if (step.name === 'create guest') {
    const wanted = await outcomeOf(() => pictureOf(ideal, model.createGuest(ideal, step.item)))
    const got = await outcomeOf(async () => real.pictureOf(await real.createGuest(step.item)))
    expect(got).toEqual(wanted)
  } else if (step.name === 'merge') {
    const cart = ideal.customers[step.customer] as model.ModelCart
    const write = writeOn(cart.version, step.condition)
    const wanted = await outcomeOf(() => {
      const report = model.merge(ideal, step.customer, step.source, step.strategy, step.condition)
      return { ...pictureOf(ideal, cart), report }
    })
    const got = await outcomeOf(async () => {
      const { view, report } = await real.merge(step.customer, step.source, step.strategy, write)
      return { ...real.pictureOf(view), report }
    })
    expect(got).toEqual(wanted)
  } else if (step.name === 'expire') {
    model.expire(ideal, step.owner)
    await real.expire(step.owner)
  } else if (step.name === 'sell or withdraw') {
    const isSold = !ideal.withdrawn.delete(step.variant)
    if (isSold) ideal.withdrawn.add(step.variant)
    real[isSold ? 'withdraw' : 'sell'](step.variant)
  } else if (step.name === 'limit') {
    ideal.limits = LIMITS[step.limits] as model.Model['limits']
    real.limit(step.limits)
  } else {
    await shop.db.run(emptyExpiredCustomerCarts)
    await shop.db.run(deleteExpiredGuestCarts, { keepMergedSeconds: IDLE_SECONDS })
  }
}

test(
  'carts match a naive model over random histories of operations',
  async () => {
    const shop = await useCartShop()
    // Durability is not tested here, so histories do not wait for the disk.
    await shop.sql(`do $$ begin
      execute format('alter database %I set synchronous_commit = off', current_database());
    end $$`)
    const all = LIMITS.map(limits => servicesOf(shop, limits))
    const histories = fc.array(fc.array(command, { maxLength: 25, size: 'max' }), {
      minLength: AT_ONCE,
      maxLength: AT_ONCE
    })
    await fc.assert(
      fc.asyncProperty(histories, async lives => {
        await Promise.all(lives.map(history => live(shop, all, history)))
      }),
      { numRuns: Math.ceil(HISTORIES / AT_ONCE), endOnFailure: false }
    )
  },
  10 * 60_000
)
