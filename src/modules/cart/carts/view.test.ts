import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compileAnswer } from '../../../../test/support/answer-schema.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Metadata } from '../../../kernel/metadata.ts'
import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { isAllowedQuantity } from '../../../kernel/quantity-rule.ts'
import { createFakeVariantOffer } from '../../catalog/fake.ts'
import { CartResponse, GuestCartResponse } from './schema.ts'
import { type CartView, cartResponseJson, joinCartWithOffers } from './view.ts'

const anyQuantity = { min: 1, max: null, step: 1 }
const customer = compileAnswer(CartResponse)
const guest = compileAnswer(GuestCartResponse)

const id = fc.uuid()
const priced = fc
  .tuple(fc.integer({ min: 0, max: AMOUNT_MAX }), fc.integer({ min: 0, max: AMOUNT_MAX }))
  .map(([a, b]) => ({ price: Math.max(a, b), discountedPrice: Math.min(a, b) }))
const nastyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '5" nail',
    'back\\slash',
    '{"a":1},',
    '\u2028\u2029',
    '</script>',
    'Grüße 👩‍🚀',
    '\n\t\u0007'
  )
)
const sold = fc
  .record({
    variantId: id,
    name: nastyText,
    attributes: fc.dictionary(nastyText, nastyText),
    rule: fc.constantFrom(anyQuantity, { min: 6, max: 60, step: 6 }),
    amounts: priced
  })
  .map(({ amounts, ...rest }) => createFakeVariantOffer({ ...rest, ...amounts }))
const lineAndOffer = fc.record({
  offer: fc.option(sold, { nil: undefined }),
  id,
  variantId: id,
  quantity: fc.integer({ min: 1, max: 99 }),
  metadata: fc.oneof(fc.constant({}), fc.dictionary(nastyText, nastyText, { maxKeys: 3 })),
  stock: fc.option(fc.nat({ max: 120 }))
})
const someLines = fc.array(lineAndOffer, { maxLength: 12 })

const lineOf = (variantId: string, quantity: number, metadata: Metadata = {}) => ({
  id: newId(),
  variantId,
  quantity,
  metadata
})
const LAST_NAME = '5" nail \\'
const viewWith = (part: Partial<CartView>, joined: ReturnType<typeof joinCartWithOffers>): CartView => ({
  customerId: null,
  currency: 'USD',
  version: 3,
  updatedAt: null,
  metadata: {},
  ...joined,
  unavailable: joined.unavailable.map(line => ({ ...line, name: LAST_NAME })),
  ...part
})

test('the JSON of any cart matches its schema and equals the view of the cart', () => {
  fc.assert(
    fc.property(
      someLines,
      fc.boolean(),
      fc.option(id),
      fc.option(fc.date({ noInvalidDate: true, min: new Date(0), max: new Date('9999-01-01') })),
      (all, counted, owner, updatedAt) => {
        const lines = all.map(({ offer, variantId, ...line }) => ({
          ...line,
          variantId: offer?.variantId ?? variantId
        }))
        const joined = joinCartWithOffers(
          lines,
          all.map(each => each.offer),
          counted ? all.map(each => each.stock) : undefined
        )
        const json = JSON.parse(cartResponseJson(viewWith({ customerId: owner, updatedAt }, joined)))
        const schema = owner === null ? guest : customer
        expect(schema(json)).toEqual([])
        expect(json).toMatchObject({
          customer_id: owner,
          updated_at: updatedAt?.toISOString() ?? null,
          version: 3
        })

        const offered = all.filter(each => each.offer !== undefined)
        expect(json.items).toEqual(
          offered.map(({ id, offer, quantity, stock, metadata }) => ({
            id,
            ...JSON.parse(`{${offer?.json}}`),
            quantity,
            line_total: (offer?.discountedPrice ?? 0) * quantity,
            stock: counted ? stock : null,
            available:
              (!counted || stock === null || stock >= quantity) &&
              isAllowedQuantity(quantity, offer?.rule ?? anyQuantity),
            metadata
          }))
        )
        expect(json.unavailable_items).toEqual(
          lines
            .filter((_, index) => all[index]?.offer === undefined)
            .map(({ id, variantId, quantity, metadata }) => {
              return { id, variant_id: variantId, name: LAST_NAME, quantity, metadata }
            })
        )
      }
    ),
    { numRuns: 1_000 }
  )
})

test('cart totals are exact to the minor unit, and include only items that are for sale', () => {
  fc.assert(
    fc.property(someLines, all => {
      const lines = all.map(({ id, variantId, quantity, metadata }) => ({
        id,
        variantId,
        quantity,
        metadata
      }))
      const view = joinCartWithOffers(
        lines,
        all.map(each => each.offer),
        undefined
      )
      const sum = (amount: 'price' | 'discountedPrice') =>
        all.reduce(
          (total, { offer, quantity }) => total + BigInt(offer?.[amount] ?? 0) * BigInt(quantity),
          0n
        )
      expect(BigInt(view.subtotal)).toBe(sum('price'))
      expect(BigInt(view.total)).toBe(sum('discountedPrice'))
      expect(BigInt(view.discountTotal)).toBe(sum('price') - sum('discountedPrice'))
      expect(view.count).toBe(lines.reduce((count, line) => count + line.quantity, 0))
      expect(view.lines.length + view.unavailable.length).toBe(lines.length)
    })
  )
})

test('the totals of a full cart at maximum prices are exact', () => {
  const offer = createFakeVariantOffer({ price: AMOUNT_MAX })
  const lines = Array.from({ length: 200 }, () => lineOf(offer.variantId, 99))
  const { subtotal } = joinCartWithOffers(
    lines,
    lines.map(() => offer),
    undefined
  )
  expect(Number.isSafeInteger(subtotal)).toBe(true)
  expect(BigInt(subtotal)).toBe(BigInt(AMOUNT_MAX) * 99n * 200n)
})

test('a cart line is available if the stock covers its quantity', () => {
  const offer = createFakeVariantOffer()
  const available = (quantity: number, stock: number) => {
    const view = joinCartWithOffers([lineOf(offer.variantId, quantity)], [offer], [stock])
    return JSON.parse(cartResponseJson(viewWith({}, view))).items[0].available
  }
  expect([available(3, 4), available(3, 3), available(3, 2), available(1, 0)]).toEqual([
    true,
    true,
    false,
    false
  ])
})

test('a cart line is available if stock and rule allow the quantity of its variant in all lines', () => {
  const offer = createFakeVariantOffer({ rule: { min: 4, max: null, step: 2 } })
  const lines = [lineOf(offer.variantId, 1, { text: 'Ada' }), lineOf(offer.variantId, 3)]
  const available = (stock: number, ...some: typeof lines) => {
    const view = joinCartWithOffers(
      some,
      some.map(() => offer),
      some.map(() => stock)
    )
    expect(view.distinctCount).toBe(1)
    return view.lines.map(({ isAvailable }) => isAvailable)
  }
  expect(available(4, ...lines)).toEqual([true, true])
  expect(available(3, ...lines)).toEqual([false, false])
  expect(available(4, ...lines.slice(1))).toEqual([false])
})
