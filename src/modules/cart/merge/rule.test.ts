import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineEqualityKey, mergeEqualLines, sumMetadataBytes } from '../../../kernel/metadata.ts'
import { isAllowedQuantity, withoutMinAndStep } from '../../../kernel/quantity-rule.ts'
import { type CartLine, isSplittable, quantityOfVariant, withUpsertedCartLines } from '../carts/lines.ts'
import { type CartMergeStrategy, mergeCartLines, type SellableVariantLimits } from './rule.ts'

const VARIANTS = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']
/** Of `{"text": "Ada"}`. */
const LINE_BYTES = 15
const TEXTS = ['', 'Ada', 'Bob']
const quantity = fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 1_000_000 }))
const lineOf = (variantId: string, quantity: number, text = '', cart = ''): CartLine => ({
  id: `${cart}${variantId}${text}`,
  variantId,
  quantity,
  metadata: text === '' ? {} : { text }
})
const anyLine = (cart: string) =>
  fc
    .record({ variantId: fc.constantFrom(...VARIANTS), text: fc.constantFrom(...TEXTS), quantity })
    .map(({ variantId, text, quantity }) => lineOf(variantId, quantity, text, cart))
const linesOf = (cart: string) => fc.uniqueArray(anyLine(cart), { selector: lineEqualityKey })
const someLines = linesOf('')
const someStrategy = fc.constantFrom<CartMergeStrategy>('sum', 'max', 'guest', 'customer')
const someLimits = fc.record({
  lineQuantityMax: fc.integer({ min: 1, max: 20 }),
  linesMax: fc.integer({ min: 1, max: 8 }),
  metadataBytesMax: fc.constantFrom(0, 2 * LINE_BYTES, 10_000)
})
const anyNumber: SellableVariantLimits = { stock: null, rule: { min: 1, max: null, step: 1 } }
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

const unlimited = { lineQuantityMax: 10_000_000, linesMax: 100, metadataBytesMax: 10_000 }
const anyQuantity = () => anyNumber
const quantities = (lines: readonly CartLine[]) =>
  new Map(lines.map(line => [lineEqualityKey(line), line.quantity]))
const variantQuantities = (lines: readonly CartLine[]) =>
  new Map(VARIANTS.map(variantId => [variantId, quantityOfVariant(lines, variantId)]))
const asked = (strategy: CartMergeStrategy, had: number | undefined, guest: number) => {
  if (had === undefined) return guest
  return { sum: had + guest, max: Math.max(had, guest), guest, customer: had }[strategy]
}

/** An arbitrary merge: both carts, the strategy, the limits, and the sellable quantities. */
const merges = fc.record({
  customer: linesOf('own '),
  guest: linesOf('guest '),
  strategy: someStrategy,
  limits: someLimits,
  sellableOf: someSellable
})
type Merge = typeof merges extends fc.Arbitrary<infer M> ? M : never

function run(merge: Merge) {
  const { customer } = merge
  const outcome = mergeCartLines(merge)
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
      for (const line of customer) {
        const wanted = quantities(guest).get(lineEqualityKey(line))
        const wins = strategy === 'guest' && wanted !== undefined && wanted < line.quantity
        expect(after.get(lineEqualityKey(line))).toBeGreaterThanOrEqual(wins ? wanted : line.quantity)
      }
    })
  })

  test('a cart merge grants the requested quantity, or reports exactly what is missing', () => {
    always(({ guest, strategy }, { before, after, adjustments }) => {
      const cuts = new Map(adjustments.map(cut => [lineEqualityKey(cut), cut]))
      expect(cuts.size).toBe(adjustments.length)
      for (const line of guest) {
        const key = lineEqualityKey(line)
        const requested = asked(strategy, before.get(key), line.quantity)
        const granted = after.get(key) ?? 0
        const cut = cuts.get(key)
        expect(granted).toBeLessThanOrEqual(requested)
        if (granted === requested) expect(cut).toBeUndefined()
        else expect(cut).toMatchObject({ requested, granted })
        cuts.delete(key)
      }
      expect(cuts.size).toBe(0)
    })
  })

  test('a cart merge does not change lines of the customer that the guest cart does not have', () => {
    always(({ customer, guest }, { lines }) => {
      const touched = quantities(guest)
      for (const line of customer) if (!touched.has(lineEqualityKey(line))) expect(lines).toContainEqual(line)
      const had = quantities(customer)
      for (const line of lines) {
        const key = lineEqualityKey(line)
        expect(had.has(key) || touched.has(key)).toBe(true)
      }
    })
  })

  test('a cart merge keeps equal lines one and different lines apart, with the ids that they had', () => {
    always(({ customer, guest }, { lines }) => {
      expect(new Set(lines.map(lineEqualityKey)).size).toBe(lines.length)
      for (const line of lines) {
        const isEqual = (other: CartLine) => lineEqualityKey(other) === lineEqualityKey(line)
        const source = customer.find(isEqual) ?? guest.find(isEqual)
        expect(line).toEqual({ ...source, quantity: line.quantity })
      }
    })
  })

  test('a cart merge exceeds no limit that was not exceeded before', () => {
    always(({ customer, limits, sellableOf }, { lines }) => {
      expect(lines.length).toBeLessThanOrEqual(Math.max(limits.linesMax, customer.length))
      const bytes = (all: readonly CartLine[]) => sumMetadataBytes(all.map(({ metadata }) => metadata))
      expect(bytes(lines)).toBeLessThanOrEqual(Math.max(limits.metadataBytesMax, bytes(customer)))
      const before = variantQuantities(customer)
      for (const [variantId, now] of variantQuantities(lines)) {
        if (now <= (before.get(variantId) ?? 0)) continue
        expect(now).toBeLessThanOrEqual(limits.lineQuantityMax)
        const { stock = 0 } = sellableOf(variantId) ?? {}
        if (stock !== null) expect(now).toBeLessThanOrEqual(stock)
      }
    })
  })

  test('a cart merge increases a variant only to an allowed quantity, and reduces no more than necessary', () => {
    always(({ customer, guest, limits, sellableOf: find }, { lines, adjustments }) => {
      // Minimum and step of a quantity that can be split into lines are checked by the checkout.
      const sellableOf = (variantId: string) => {
        const sellable = find(variantId)
        return sellable && isSplittable([...customer, ...guest], variantId)
          ? { ...sellable, rule: withoutMinAndStep(sellable.rule) }
          : sellable
      }
      const before = variantQuantities(customer)
      const after = variantQuantities(lines)
      for (const variantId of VARIANTS) {
        const [had = 0, now = 0, sellable] = [
          before.get(variantId),
          after.get(variantId),
          sellableOf(variantId)
        ]
        if (now > had && sellable) expect([now, isAllowedQuantity(now, sellable.rule)]).toEqual([now, true])
        const cuts = adjustments.filter(
          cut => cut.variantId === variantId && !/^(line|metadata)_limit$/.test(cut.reason)
        )
        const missing = cuts.reduce((sum, { requested, granted }) => sum + requested - granted, 0)
        const { stock, rule } = sellable ?? { stock: 0, rule: anyNumber.rule }
        const most = Math.min(now + missing, limits.lineQuantityMax, stock ?? Number.POSITIVE_INFINITY)
        for (let more = now + 1; more <= Math.min(most, now + rule.min + rule.step); more += 1)
          expect([more, isAllowedQuantity(more, rule)]).toEqual([more, false])
      }
    })
  })

  test("a cart merge keeps the order of the customer's lines, followed by that of the guest's", () => {
    always(({ customer, guest }, { lines }) => {
      const had = customer.map(lineEqualityKey)
      const order = lines.map(lineEqualityKey)
      expect(order.slice(0, had.length)).toEqual(had)
      const guestOrder = guest.map(lineEqualityKey)
      expect(order.slice(had.length)).toEqual(
        guestOrder.filter(key => order.includes(key) && !had.includes(key))
      )
    })
  })

  test('a cart merge changes only lines whose quantity differs, and reports the right reason of a reduction', () => {
    always(({ limits, sellableOf }, { before, changed, adjustments, lines }) => {
      for (const line of changed) expect(before.get(lineEqualityKey(line))).not.toBe(line.quantity)
      const after = variantQuantities(lines)
      for (const { variantId, metadata, reason, granted } of adjustments) {
        const sellable = sellableOf(variantId)
        const now = after.get(variantId) ?? 0
        const isNew = !before.has(lineEqualityKey({ variantId, metadata }))
        expect(reason === 'unavailable').toBe(sellable === undefined)
        if (reason === 'insufficient_stock') expect(now).toBeGreaterThanOrEqual(sellable?.stock ?? Number.NaN)
        if (reason === 'quantity_limit') expect(now).toBeGreaterThanOrEqual(limits.lineQuantityMax)
        if (reason === 'line_limit') expect([granted, isNew]).toEqual([0, true])
        if (reason === 'metadata_limit')
          expect([granted, isNew, metadata.text !== undefined]).toEqual([0, true, true])
      }
    })
  })
})

const merged = (
  customer: readonly CartLine[],
  guest: readonly CartLine[],
  strategy: CartMergeStrategy = 'sum',
  limits = unlimited,
  sellableOf: (variantId: string) => SellableVariantLimits | undefined = anyQuantity
) => mergeCartLines({ customer, guest, strategy, limits, sellableOf })

test('below the limits, a cart merge with the guest and the customer swapped has the same sum', () => {
  fc.assert(
    fc.property(someLines, someLines, (one, other) => {
      const there = withUpsertedCartLines(one, merged(one, other).changed)
      const back = withUpsertedCartLines(other, merged(other, one).changed)
      expect(quantities(there)).toEqual(quantities(back))
      for (const [key, sum] of quantities(there)) {
        expect(sum).toBe((quantities(one).get(key) ?? 0) + (quantities(other).get(key) ?? 0))
      }
    })
  )
})

test.each<CartMergeStrategy>(['max', 'customer', 'guest'])(
  'merging a guest cart twice with the strategy %s equals merging once',
  strategy => {
    // The second merge could add what only a line without room would have taken.
    const limits = someLimits.map(({ lineQuantityMax }) => ({ ...unlimited, lineQuantityMax }))
    fc.assert(
      fc.property(someLines, someLines, limits, (customer, guest, limits) => {
        const once = withUpsertedCartLines(customer, merged(customer, guest, strategy, limits).changed)
        expect(merged(once, guest, strategy, limits).changed).toEqual([])
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
    const customer = [lineOf('a', 5)]
    const { changed, adjustments } = merged(customer, [lineOf('a', 2)], strategy)
    expect(quantities(withUpsertedCartLines(customer, changed)).get('a')).toBe(granted)
    expect(adjustments).toEqual([])
  }
)

test('a merge keeps lines with metadata whose sum breaks step and minimum, and enforces the maximum', () => {
  const boxes = () => ({ stock: null, rule: { min: 6, max: 6, step: 6 } })
  const merge = (guest: CartLine[]) => merged([], guest, 'sum', unlimited, boxes)
  expect(merge([lineOf('a', 3, 'Ada')])).toEqual({ changed: [lineOf('a', 3, 'Ada')], adjustments: [] })
  expect(merge([lineOf('a', 3)]).adjustments).toMatchObject([{ granted: 0, reason: 'quantity_rule' }])
  const { changed, adjustments } = merge([lineOf('a', 3, 'Bob'), lineOf('a', 4, 'Ada')])
  expect(changed).toEqual([lineOf('a', 3, 'Bob'), lineOf('a', 3, 'Ada')])
  expect(adjustments).toEqual([
    { variantId: 'a', metadata: { text: 'Ada' }, requested: 4, granted: 3, reason: 'quantity_rule' }
  ])
})

test('stock is granted to the first lines of a variant, and other lines of the customer keep theirs', () => {
  const five = () => ({ stock: 5, rule: anyNumber.rule })
  const customer = [lineOf('a', 2, 'Ada')]
  const guest = [lineOf('a', 2), lineOf('a', 2, 'Bob'), lineOf('a', 2, 'Cy')]
  const { changed, adjustments } = merged(customer, guest, 'sum', unlimited, five)
  expect(changed).toEqual([lineOf('a', 2), lineOf('a', 1, 'Bob')])
  expect(adjustments.map(({ metadata, granted, reason }) => [metadata.text, granted, reason])).toEqual([
    ['Bob', 1, 'insufficient_stock'],
    ['Cy', 0, 'insufficient_stock']
  ])
})

test('a line whose metadata has no room is not merged, and lines without metadata are', () => {
  const limits = { ...unlimited, metadataBytesMax: LINE_BYTES }
  const guest = [lineOf('a', 1, 'Ada'), lineOf('b', 1, 'Bob'), lineOf('c', 1)]
  const { changed, adjustments } = merged([], guest, 'sum', limits)
  expect(changed).toEqual([lineOf('a', 1, 'Ada'), lineOf('c', 1)])
  expect(adjustments).toMatchObject([{ variantId: 'b', granted: 0, reason: 'metadata_limit' }])
})

test('a line that is repeated in merged cart lines is added up, at its first position', () => {
  fc.assert(
    fc.property(fc.array(anyLine('')), lines => {
      const summed = mergeEqualLines(lines)
      expect(summed.map(lineEqualityKey)).toEqual([...new Set(lines.map(lineEqualityKey))])
      for (const line of summed) {
        const parts = lines.filter(other => lineEqualityKey(other) === lineEqualityKey(line))
        expect(line.quantity).toBe(parts.reduce((total, { quantity }) => total + quantity, 0))
      }
    })
  )
})
