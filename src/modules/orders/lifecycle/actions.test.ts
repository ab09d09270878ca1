import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import {
  allowedOrderActions,
  findOrderActionRefusalReason,
  ORDER_ACTIONS,
  type OrderActionName,
  type OrderLifecycleFacts,
  orderStateAfter
} from './actions.ts'
import { type OrderLineCounters, remainingOrderLineUnitsByAction } from './counters.ts'

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
const lifecycle = (fields: Partial<OrderLifecycleFacts> = {}): OrderLifecycleFacts => ({
  state: 'placed',
  paymentStatus: 'paid',
  lines: [line()],
  isCancelRequested: false,
  isHeld: false,
  isErased: false,
  ...fields
})
const unpaid = { state: 'pending', paymentStatus: 'unpaid' } as const

describe('allowed actions', () => {
  test('buyers can only pay and cancel an order, and guests can claim it', () => {
    const by = (role: string) =>
      Object.entries(ORDER_ACTIONS)
        .filter(([, { by }]) => (by as readonly string[]).includes(role))
        .map(([name]) => name)
    expect(by('guest')).toEqual(['pay', 'cancel', 'claim'])
    expect(by('customer')).toEqual(['pay', 'cancel'])
  })

  test.each<[string, Partial<OrderLifecycleFacts>, 'unpaid' | 'unshipped' | 'never', string | undefined]>([
    ['before it is paid', unpaid, 'unpaid', undefined],
    ['when it is paid and not sent', {}, 'unshipped', undefined],
    ['when it is paid, where only what is not may be', {}, 'unpaid', 'paid'],
    [
      'when its money is held, where only what is not may be',
      { paymentStatus: 'authorized' },
      'unpaid',
      'paid'
    ],
    ['on account', { paymentStatus: null }, 'unpaid', undefined],
    ['under the policy never', unpaid, 'never', 'policy'],
    ['when some of it is sent', { lines: [line({ fulfilled: 1 })] }, 'unshipped', 'shipped'],
    ['a second time', { isCancelRequested: true }, 'unshipped', 'cancel_requested'],
    ['when it is canceled', { state: 'canceled' }, 'unshipped', 'state']
  ])(
    'whether a buyer can cancel an order %s depends on its state and the cancellation policy',
    (_, fields, policy, refusal) => {
      expect(findOrderActionRefusalReason('cancel', lifecycle(fields), 'customer', policy)).toBe(refusal)
      expect(findOrderActionRefusalReason('cancel', lifecycle(fields), 'guest', policy)).toBe(refusal)
    }
  )

  test('administrators can cancel orders under any cancellation policy, but not shipped orders', () => {
    expect(findOrderActionRefusalReason('cancel', lifecycle(), 'admin', 'never')).toBeUndefined()
    expect(
      findOrderActionRefusalReason(
        'cancel',
        lifecycle({ lines: [line({ fulfilled: 1 })] }),
        'admin',
        'unshipped'
      )
    ).toBe('shipped')
  })

  test.each<[string, Partial<OrderLifecycleFacts>, OrderActionName[]]>([
    ['unpaid', unpaid, ['cancel', 'cancel_lines', 'hold', 'note']],
    ['paid', {}, ['cancel', 'cancel_lines', 'fulfil', 'refund', 'hold', 'note']],
    ['held', { isHeld: true }, ['cancel', 'cancel_lines', 'refund', 'release', 'note']],
    ['being canceled', { isCancelRequested: true }, ['note']],
    [
      'sent',
      { lines: [line({ fulfilled: 2 })] },
      ['return', 'relabel', 'void_event', 'void_shipment', 'refund', 'complete', 'hold', 'note']
    ],
    [
      'sent in part',
      { lines: [line({ fulfilled: 1 })] },
      ['cancel_lines', 'fulfil', 'return', 'relabel', 'void_event', 'void_shipment', 'refund', 'hold', 'note']
    ],
    [
      'returned',
      { lines: [line({ fulfilled: 2, returned: 2 })] },
      ['relabel', 'void_event', 'void_shipment', 'refund', 'complete', 'hold', 'note']
    ],
    [
      'done',
      { state: 'completed', lines: [line({ fulfilled: 2 })] },
      ['return', 'relabel', 'void_event', 'void_shipment', 'refund', 'reopen', 'note']
    ],
    [
      'erased',
      { state: 'completed', lines: [line({ fulfilled: 2 })], isErased: true },
      ['return', 'refund', 'note']
    ],
    ['canceled', { state: 'canceled' }, ['note']]
  ])('administrators have exactly these allowed actions on an order that is %s', (_, fields, actions) => {
    expect(allowedOrderActions(lifecycle(fields), 'admin', 'never')).toEqual(actions)
  })

  test('while the cancellation of an order is pending, the shop can only confirm or reject it or place the order', () => {
    const canceling = { isCancelRequested: true }
    const isOrIsNot = ['confirm_cancel', 'refuse_cancel']
    const sent = { lines: [line({ fulfilled: 2 })] }
    expect(allowedOrderActions(lifecycle({ ...canceling, ...unpaid }), 'system', 'never')).toEqual([
      'place',
      ...isOrIsNot
    ])
    expect(allowedOrderActions(lifecycle({ ...canceling, ...sent }), 'system', 'never')).toEqual(isOrIsNot)
    expect(allowedOrderActions(lifecycle(canceling), 'guest', 'unshipped')).toEqual(['claim'])
  })

  test('an erased order still records facts from providers and carriers, and no action starts anything new', () => {
    const erased = { lines: [line({ fulfilled: 2 })], isErased: true }
    expect(allowedOrderActions(lifecycle({ ...erased, state: 'completed' }), 'system', 'never')).toEqual([
      ...['deliver', 'come_back', 'refund']
    ])
    expect(
      findOrderActionRefusalReason('place', lifecycle({ ...unpaid, isErased: true }), 'system', 'never')
    ).toBe('erased')
    expect(
      findOrderActionRefusalReason('claim', lifecycle({ ...erased, state: 'canceled' }), 'guest', 'unshipped')
    ).toBe('erased')
  })

  test('a buyer can pay an order while an amount is due', () => {
    expect(allowedOrderActions(lifecycle(unpaid), 'customer', 'never')).toEqual(['pay'])
    expect(allowedOrderActions(lifecycle({ paymentStatus: 'unpaid' }), 'guest', 'unshipped')).toEqual([
      ...['pay', 'cancel', 'claim']
    ])
    expect(allowedOrderActions(lifecycle(), 'customer', 'unpaid')).toEqual([])
    expect(
      allowedOrderActions(lifecycle({ ...unpaid, isCancelRequested: true }), 'customer', 'unpaid')
    ).toEqual([])
  })
})

test('an order action without a target keeps the state, and actions lead to each state except pending', () => {
  for (const [name, { from, to }] of Object.entries(ORDER_ACTIONS))
    for (const state of from) expect(orderStateAfter(name as OrderActionName, state)).toBe(to ?? state)
  const reached = new Set(Object.values(ORDER_ACTIONS).flatMap(({ to }) => to ?? []))
  expect([...reached].sort()).toEqual(['canceled', 'completed', 'placed'])
})

test('no unit of an order line allows two actions that exclude each other', () => {
  for (let canceled = 0; canceled <= 3; canceled += 1)
    for (let fulfilled = 0; canceled + fulfilled <= 3; fulfilled += 1) {
      const counters = line({ ordered: 3, canceled, fulfilled })
      expect(
        remainingOrderLineUnitsByAction.cancel(counters) +
          remainingOrderLineUnitsByAction.refund(counters) +
          canceled
      ).toBe(3)
    }
})

test('the guide to the order lifecycle has the same table of actions as the code', async () => {
  const page = await readFile(new URL('../../../../docs/order-lifecycle.md', import.meta.url), 'utf8')
  const rows = Object.entries(ORDER_ACTIONS).map(
    ([name, { from, to, by, description }]) =>
      `| \`${name}\` | ${from.join(', ')} | ${to ?? ''} | ${by.join(', ')} | ${description} |`
  )
  expect(page).toContain(rows.join('\n').replaceAll('|  |', '| |'))
})
