import { expect, test } from 'vitest'
import { brokenPromises, type OrderRow } from './promises.ts'
import type { Attempt } from './run-record.ts'

const order: OrderRow = {
  id: '1',
  number: 'N1',
  total: 10,
  note: 'a',
  state: 'placed',
  units: { mug: 2 },
  returned: {}
}
const response = { orderId: '1', number: 'N1', total: 10, isNew: true }
const attempt: Attempt = {
  note: 'a',
  cart: 'c',
  isKeyed: true,
  units: { mug: 2 },
  responses: [response],
  isRefused: false
}
const rival: Attempt = { ...attempt, note: 'b', responses: [{ ...response, isNew: false }] }
const stranger: Attempt = {
  ...attempt,
  note: 'b',
  cart: undefined,
  responses: [{ ...response, isNew: false }]
}

test('the chaos judge accepts responses that match the database, also in a second browser tab', () => {
  const none = new Set<string>()
  expect(brokenPromises({ attempts: [attempt, rival], canceled: none }, [order])).toEqual([])
  const empty = { ...rival, responses: [], isRefused: true, code: 'CART_EMPTY' }
  expect(brokenPromises({ attempts: [attempt, empty], canceled: none }, [order])).toEqual([])
  const withReturned = { ...order, units: { mug: 3, cap: 1 }, returned: { mug: 1, cap: 2 } }
  expect(brokenPromises({ attempts: [attempt], canceled: none }, [withReturned])).toEqual([])
  const twin = { ...order, id: '2', number: 'N2', note: 'b', state: 'canceled' }
  expect(
    brokenPromises({ attempts: [attempt, { ...rival, responses: [] }], canceled: new Set(['2']) }, [
      order,
      twin
    ])
  ).toEqual([])
})

test.each([
  ['was not requested', [], [order]],
  ['N1 was acknowledged, and does not exist', [attempt], []],
  ['one request created N1 and N2', [attempt], [order, { ...order, id: '2', number: 'N2' }]],
  [
    'answered with two orders',
    [{ ...attempt, responses: [response, { ...response, orderId: '2' }] }],
    [order]
  ],
  ['was rejected, and exists', [{ ...attempt, responses: [], isRefused: true }], [order]],
  ['and is N1 with 11', [attempt], [{ ...order, total: 11 }]],
  ["which is another buyer's", [attempt, stranger], [order]],
  ['were ordered, and N1 has {"mug":1}', [attempt], [{ ...order, units: { mug: 1 } }]],
  ['were ordered, and N1 has {"mug":4}', [attempt], [{ ...order, units: { mug: 4 }, returned: { mug: 1 } }]],
  ['which was empty when', [{ ...attempt, responses: [], isRefused: true, code: 'CART_EMPTY' }], []],
  ['one cart became N1 and N2', [attempt, rival], [order, { ...order, id: '2', number: 'N2', note: 'b' }]]
] as [string, Attempt[], OrderRow[]][])(
  'the chaos judge reports a broken promise: %s',
  (words, attempts, orders) => {
    expect(brokenPromises({ attempts, canceled: new Set() }, orders).join('\n')).toContain(words)
  }
)

test('the chaos judge finds an order that was acknowledged as canceled and is not canceled', () => {
  const broken = brokenPromises({ attempts: [attempt], canceled: new Set(['1']) }, [order])
  expect(broken).toEqual(['N1 was acknowledged as canceled, and is placed'])
})
