import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isAllowedQuantity } from '../../../kernel/quantity-rule.ts'
import { type CartLine, withUpsertedCartLines } from '../carts/lines.ts'
import {
  type CartMergeStrategy,
  mergeCartLines,
  type SellableVariant,
  sumCartLinesByVariant
} from './rule.ts'

const VARIANTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
const quantity = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 1_000_000 }))
const someLines = fc.uniqueArray(fc.record({ variantId: fc.constantFrom(...VARIANTS), quantity }), {
  selector: line => line.variantId
})
const someStrategy = fc.constantFrom<CartMergeStrategy>('sum', 'max', 'guest', 'customer')
const someLimits = fc.record({
  lineQuantityMax: fc.integer({ min: 1, max: 20 }),
  linesMax: fc.integer({ min: 1, max: 8 })
})
const anyNumber: SellableVariant = { stock: null, rule: { min: 1, max: null, step: 1 } }
const someRule = fc
  .record({
    step: fc.integer({ min: 1, max: 7 }),
    least: fc.integer({ min: 1, max: 3 }),
    more: fc.option(fc.nat({ max: 4 }))
  })
  .map(({ step, least, more }) => ({
    step,
    min: least * step,
    max: more === null ? null : (least + more) * step
  }))
const someSellable = fc
  .dictionary(
    fc.constantFrom(...VARIANTS),
    fc.option(fc.record({ stock: fc.option(fc.nat({ max: 20 })), rule: someRule }), { nil: undefined })
  )
  .map(known => (variantId: string) => (Object.hasOwn(known, variantId) ? known[variantId] : anyNumber))

const unlimited = { lineQuantityMax: 10_000_000, linesMax: 100 }
const anyQuantity = () => anyNumber
const quantities = (lines: readonly CartLine[]) => new Map(lines.map(line => [line.variantId, line.quantity]))
const asked = (strategy: CartMergeStrategy, had: number | undefined, guest: number) => {
  if (had === undefined) return guest
  return { sum: had + guest, max: Math.max(had, guest), guest, customer: had }[strategy]
}

/** An arbitrary merge: both carts, the strategy, the limits, and the sellable quantities. */
const merges = fc.record({
  customer: someLines,
  guest: someLines,
  strategy: someStrategy,
  limits: someLimits,
  sellableOf: someSellable
})
type Merge = typeof merges extends fc.Arbitrary<infer M> ? M : never

function run({ customer, guest, strategy, limits, sellableOf }: Merge) {
  const outcome = mergeCartLines(customer, guest, strategy, limits, sellableOf)
  const lines = withUpsertedCartLines(customer, outcome.changed)
  return { ...outcome, lines, before: quantities(customer), after: quantities(lines) }
}
const always = (check: (merge: Merge, result: ReturnType<typeof run>) => void) =>
  fc.assert(
    fc.property(merges, merge => check(merge, run(merge))),
    { numRuns: 2_000 }
  )

describe('any merge', () => {
  test("a cart merge reduces the customer's quantity only if the strategy prefers a smaller one of the guest", () => {
    always(({ customer, guest, strategy }, { after }) => {
      for (const { variantId, quantity: had } of customer) {
        const wanted = quantities(guest).get(variantId)
        const wins = strategy === 'guest' && wanted !== undefined && wanted < had
        expect(after.get(variantId)).toBeGreaterThanOrEqual(wins ? wanted : had)
      }
    })
  })

  test('a cart merge grants the requested quantity, or reports exactly what is missing', () => {
    always(({ guest, strategy }, { before, after, adjustments }) => {
      const cuts = new Map(adjustments.map(cut => [cut.variantId, cut]))
      expect(cuts.size).toBe(adjustments.length)
      for (const { variantId, quantity: wanted } of guest) {
        const requested = asked(strategy, before.get(variantId), wanted)
        const granted = after.get(variantId) ?? 0
        const cut = cuts.get(variantId)
        expect(granted).toBeLessThanOrEqual(requested)
        if (granted === requested) expect(cut).toBeUndefined()
        else expect(cut).toMatchObject({ requested, granted })
        cuts.delete(variantId)
      }
      expect(cuts.size).toBe(0)
    })
  })

  test('a cart merge does not change lines of the customer that the guest cart does not have', () => {
    always(({ customer, guest }, { after }) => {
      const touched = quantities(guest)
      for (const line of customer) {
        if (!touched.has(line.variantId)) expect(after.get(line.variantId)).toBe(line.quantity)
      }
      const had = quantities(customer)
      for (const variantId of after.keys()) expect(had.has(variantId) || touched.has(variantId)).toBe(true)
    })
  })

  test('a cart merge exceeds no limit that was not exceeded before', () => {
    always(({ customer, limits, sellableOf }, { before, after, lines }) => {
      expect(lines.length).toBeLessThanOrEqual(Math.max(limits.linesMax, customer.length))
      for (const [variantId, now] of after) {
        const had = before.get(variantId) ?? 0
        if (now <= had) continue
        expect(now).toBeLessThanOrEqual(limits.lineQuantityMax)
        const { stock = 0 } = sellableOf(variantId) ?? {}
        if (stock !== null) expect(now).toBeLessThanOrEqual(stock)
      }
    })
  })

  test('a cart merge increases a line only to an allowed quantity, and reduces no more than necessary', () => {
    always(({ guest, limits, sellableOf }, { before, after, adjustments }) => {
      for (const { variantId } of guest) {
        const [had = 0, now = 0, sellable] = [
          before.get(variantId),
          after.get(variantId),
          sellableOf(variantId)
        ]
        if (now > had && sellable) expect([now, isAllowedQuantity(now, sellable.rule)]).toEqual([now, true])
      }
      for (const { variantId, requested, granted, reason } of adjustments) {
        const { stock, rule } = sellableOf(variantId) ?? { stock: 0, rule: anyNumber.rule }
        if (reason === 'line_limit') continue
        const most = Math.min(requested, limits.lineQuantityMax, stock ?? requested)
        for (let more = granted + 1; more <= Math.min(most, granted + rule.min + rule.step); more += 1)
          expect([more, isAllowedQuantity(more, rule)]).toEqual([more, false])
      }
    })
  })

  test("a cart merge keeps the order of the customer's lines, followed by that of the guest's", () => {
    always(({ customer, guest }, { lines }) => {
      const had = customer.map(line => line.variantId)
      const order = lines.map(line => line.variantId)
      expect(order.slice(0, had.length)).toEqual(had)
      const guestOrder = guest.map(line => line.variantId)
      expect(order.slice(had.length)).toEqual(
        guestOrder.filter(id => order.includes(id) && !had.includes(id))
      )
    })
  })

  test('a cart merge changes only lines whose quantity differs, and reports the right reason of a reduction', () => {
    always(({ limits, sellableOf }, { before, changed, adjustments }) => {
      for (const line of changed) expect(before.get(line.variantId)).not.toBe(line.quantity)
      for (const { variantId, reason, granted } of adjustments) {
        const sellable = sellableOf(variantId)
        expect(reason === 'unavailable').toBe(sellable === undefined)
        if (reason === 'insufficient_stock')
          expect(granted).toBeGreaterThanOrEqual(sellable?.stock ?? Number.NaN)
        if (reason === 'quantity_limit') expect(granted).toBeGreaterThanOrEqual(limits.lineQuantityMax)
        if (reason === 'line_limit') expect([granted, before.has(variantId)]).toEqual([0, false])
      }
    })
  })
})

test('below the limits, a cart merge with the guest and the customer swapped has the same sum', () => {
  fc.assert(
    fc.property(someLines, someLines, (one, other) => {
      const there = withUpsertedCartLines(
        one,
        mergeCartLines(one, other, 'sum', unlimited, anyQuantity).changed
      )
      const back = withUpsertedCartLines(
        other,
        mergeCartLines(other, one, 'sum', unlimited, anyQuantity).changed
      )
      expect(quantities(there)).toEqual(quantities(back))
      for (const [variantId, sum] of quantities(there)) {
        expect(sum).toBe((quantities(one).get(variantId) ?? 0) + (quantities(other).get(variantId) ?? 0))
      }
    })
  )
})

test.each<CartMergeStrategy>(['max', 'customer', 'guest'])(
  'merging a guest cart twice with the strategy %s equals merging once',
  strategy => {
    fc.assert(
      fc.property(someLines, someLines, someLimits, (customer, guest, limits) => {
        const once = withUpsertedCartLines(
          customer,
          mergeCartLines(customer, guest, strategy, limits, anyQuantity).changed
        )
        expect(mergeCartLines(once, guest, strategy, limits, anyQuantity).changed).toEqual([])
      })
    )
  }
)

test.each([
  { strategy: 'sum', granted: 7 },
  { strategy: 'max', granted: 5 },
  { strategy: 'guest', granted: 2 },
  { strategy: 'customer', granted: 5 }
] as const)(
  "a merge of the customer's quantity 5 and the guest's 2 by the strategy $strategy makes $granted",
  ({ strategy, granted }) => {
    const customer = [{ variantId: 'a', quantity: 5 }]
    const guest = [{ variantId: 'a', quantity: 2 }]
    const { changed, adjustments } = mergeCartLines(customer, guest, strategy, unlimited, anyQuantity)
    expect(quantities(withUpsertedCartLines(customer, changed)).get('a')).toBe(granted)
    expect(adjustments).toEqual([])
  }
)

test('a variant that is repeated in merged cart lines is added up, at its first position', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ variantId: fc.constantFrom(...VARIANTS), quantity })), lines => {
      const summed = sumCartLinesByVariant(lines)
      expect(summed.map(line => line.variantId)).toEqual([...new Set(lines.map(line => line.variantId))])
      for (const { variantId, quantity: sum } of summed) {
        const parts = lines.filter(line => line.variantId === variantId)
        expect(sum).toBe(parts.reduce((total, line) => total + line.quantity, 0))
      }
    })
  )
})
