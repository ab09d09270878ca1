import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type EvictableOrder,
  evictableUnitsByItem,
  rankEvictableOrders,
  selectOrdersToEvict,
  stockEvictionProtectionsOf
} from './eviction-victims.ts'

const ITEM = 'mug'
const claim = (owner: string, quantity: number, itemId = ITEM) => ({ owner, itemId, quantity })
const guest = (id: string, network: string | null): EvictableOrder => ({
  id,
  network,
  isVerified: false,
  protection: null
})
const verified = (id: string, before: number, units: number, variantId = ITEM): EvictableOrder => ({
  id,
  network: 'home',
  isVerified: true,
  protection: { before, lines: [{ variantId, units }] }
})
const ownersOf = (ranked: readonly { owner: string }[]) => ranked.map(({ owner }) => owner)

test('unpaid orders of networks with the most units lose units first, newest before older, verified buyers last', () => {
  const orders = [verified('v', 0, 9), guest('a1', 'a'), guest('b1', 'b'), guest('b2', 'b'), guest('n', null)]
  const claims = [claim('v', 9), claim('a1', 4), claim('b1', 3), claim('b2', 2), claim('n', 9)]
  expect(ownersOf(rankEvictableOrders(claims, orders, 3))).toEqual(['b2', 'b1', 'a1', 'n', 'v'])
})

test('the fewest unpaid orders that together have enough units are selected to lose them', () => {
  const ranked = rankEvictableOrders(
    [claim('c', 2), claim('b', 2), claim('a', 2)],
    [guest('c', 'x'), guest('b', 'x'), guest('a', 'x')],
    0
  )
  const wanted = (quantity: number, spare = 0) =>
    ownersOf(selectOrdersToEvict(ranked, [{ itemId: ITEM, quantity }], spare))
  expect([wanted(2), wanted(3), wanted(2, 3), wanted(9)]).toEqual([
    ['c'],
    ['c', 'b'],
    ['c', 'b', 'a'],
    ['c', 'b', 'a']
  ])
})

test('orders that are paid or unknown lose no units to card buyers', () => {
  expect(rankEvictableOrders([claim('paid', 5)], [], 0)).toEqual([])
})

test("a verified buyer has one number of protected units for all of the buyer's unpaid orders", () => {
  const orders = [verified('first', 0, 2), verified('second', 2, 2), verified('third', 4, 2)]
  const claims = [claim('first', 2), claim('second', 2), claim('third', 2)]
  const kept = new Map(rankEvictableOrders(claims, orders, 3).map(({ owner, keep }) => [owner, keep]))
  expect(kept.get('first')).toEqual([{ itemId: ITEM, quantity: 2 }])
  expect(kept.get('second')).toEqual([{ itemId: ITEM, quantity: 1 }])
  expect(kept.get('third')).toEqual([])
  expect(evictableUnitsByItem(rankEvictableOrders(claims, orders, 3))).toEqual(new Map([[ITEM, 3]]))
})

test('an unpaid order with protected units keeps all parts of its kits', () => {
  const kit = verified('kit', 0, 5, 'set')
  expect(rankEvictableOrders([claim('kit', 10)], [kit], 3)[0]?.keep).toEqual([{ itemId: ITEM, quantity: 10 }])
  const later = verified('kit', 3, 5, 'set')
  expect(rankEvictableOrders([claim('kit', 10)], [later], 3)[0]?.keep).toEqual([])
})

test('a verified buyer loses the unpaid units beyond the protected ones, however they are spread over orders', () => {
  const sizesOf = fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 8 })
  fc.assert(
    fc.property(sizesOf, fc.nat(20), (sizes, protectedUnits) => {
      const lines = (units: number) => [{ variantId: ITEM, units }]
      const made = sizes.map((size, index) => ({ id: `o${index}`, lines: lines(size) }))
      const protections = stockEvictionProtectionsOf(made, () => 'ada')
      const orders = made.map(({ id }) => ({
        id,
        network: null,
        isVerified: true,
        protection: protections.get(id) ?? null
      }))
      const claims = sizes.map((size, index) => claim(`o${index}`, size))
      const evictable =
        evictableUnitsByItem(rankEvictableOrders(claims, orders, protectedUnits)).get(ITEM) ?? 0
      expect(evictable).toBe(Math.max(0, sizes.reduce((sum, size) => sum + size, 0) - protectedUnits))
    })
  )
})
