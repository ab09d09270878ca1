import { describe, expect, test } from 'vitest'
import { addToOrderLineCounters, type OrderLineCounters } from './counters.ts'
import { fulfillmentStatusOf, orderStatusOf } from './status.ts'

const line = (fields: Partial<OrderLineCounters> = {}): OrderLineCounters => ({
  line: 0,
  ordered: 2,
  canceled: 0,
  fulfilled: 0,
  returned: 0,
  refunded: 0,
  requiresShipping: true,
  ...fields
})

test.each<[string, Partial<OrderLineCounters>[]]>([
  ['not_required', [{ requiresShipping: false }]],
  ['none', [{}, { requiresShipping: false, fulfilled: 2 }]],
  ['none', [{ canceled: 2 }]],
  ['partial', [{ fulfilled: 1 }]],
  ['partial', [{ fulfilled: 2 }, {}]],
  ['fulfilled', [{ fulfilled: 1, canceled: 1 }, { fulfilled: 2 }]],
  ['partially_returned', [{ fulfilled: 2, returned: 1 }]],
  ['partially_returned', [{ fulfilled: 2, returned: 2 }, {}]],
  ['returned', [{ fulfilled: 2, returned: 2 }, { canceled: 2 }]]
])('from the counters of its lines, the fulfilment status of an order is %s', (status, lines) => {
  expect(fulfillmentStatusOf(lines.map(line))).toBe(status)
})

test.each([
  ['pending', 'pending', 'unpaid', 'none'],
  ['pending', 'placed', 'unpaid', 'none'],
  ['pending', 'placed', null, 'partial'],
  ['paid', 'placed', 'authorized', 'none'],
  ['paid', 'placed', 'partially_refunded', 'partial'],
  ['paid', 'placed', 'paid', 'not_required'],
  ['shipped', 'placed', 'unpaid', 'fulfilled'],
  ['shipped', 'placed', 'refunded', 'returned'],
  ['completed', 'completed', 'paid', 'fulfilled'],
  ['canceled', 'canceled', 'refunded', 'none']
] as const)(
  'shoppers see the status %s for an order that is %s, %s, %s',
  (status, state, payment, fulfillment) => {
    expect(orderStatusOf(state, payment, fulfillment)).toBe(status)
  }
)

describe('counters', () => {
  const lines = [line(), line({ line: 1, ordered: 5, fulfilled: 3 })]

  test('counters of an order line count units by progress', () => {
    const units = [
      { line: 0, quantity: 1 },
      { line: 1, quantity: 1 },
      { line: 1, quantity: 1 }
    ]
    expect(addToOrderLineCounters(lines, 'fulfil', units).map(({ fulfilled }) => fulfilled)).toEqual([1, 5])
    expect(addToOrderLineCounters(lines, 'refund', units.slice(1)).map(({ refunded }) => refunded)).toEqual([
      0, 2
    ])
  })

  test('an action on more units than are left is rejected, and the error names every line', () => {
    const units = [
      { line: 0, quantity: 3 },
      { line: 1, quantity: 2 },
      { line: 1, quantity: 1 }
    ]
    expect(() => addToOrderLineCounters(lines, 'cancel', units)).toThrow(
      expect.objectContaining({
        code: 'ORDER_UNITS_SHORT',
        details: {
          items: [
            { line: 0, requested: 3, available: 2 },
            { line: 1, requested: 3, available: 2 }
          ]
        }
      })
    )
    expect(() => addToOrderLineCounters(lines, 'return', [{ line: 7, quantity: 1 }])).toThrow(
      expect.objectContaining({
        code: 'ORDER_LINE_UNKNOWN',
        details: expect.objectContaining({ lines: [7] })
      })
    )
  })
})
