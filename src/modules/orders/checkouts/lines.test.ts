import { expect, test } from 'vitest'
import { mergeCheckoutLines } from './lines.ts'

const mug = (quantity: number, metadata: Record<string, string> = {}) => ({
  variantId: 'mug',
  quantity,
  metadata
})

test('checkout lines of one variant are merged when their metadata is equal, in any order of its keys', () => {
  const lines = [
    mug(1, { engraving: 'Ada', font: 'serif' }),
    mug(2),
    { ...mug(1), variantId: 'cup' },
    mug(3, { font: 'serif', engraving: 'Ada' }),
    mug(4, { engraving: 'Ada' }),
    mug(5)
  ]
  const merged = mergeCheckoutLines(lines)
  expect(merged.map(({ id: _, ...line }) => line)).toEqual([
    mug(4, { engraving: 'Ada', font: 'serif' }),
    mug(7),
    { ...mug(1), variantId: 'cup' },
    mug(4, { engraving: 'Ada' })
  ])
  expect(new Set(merged.map(({ id }) => id)).size).toBe(merged.length)
})

test('a merged checkout line has the id of the equal line that is stored, and otherwise a new id', () => {
  const stored = mergeCheckoutLines([mug(1, { engraving: 'Ada' }), mug(1)])
  const merged = mergeCheckoutLines(
    [mug(5), mug(2, { engraving: 'Bob' }), mug(3, { engraving: 'Ada' })],
    stored
  )
  expect([merged[0]?.id, merged[2]?.id]).toEqual([stored[1]?.id, stored[0]?.id])
  expect(stored.map(({ id }) => id)).not.toContain(merged[1]?.id)
})
