import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { ACTIONS, type ActionName, type Life, nextActions, refusalOf, stateAfter } from './actions.ts'
import { type LineCounters, left } from './counters.ts'

const line = (fields: Partial<LineCounters> = {}): LineCounters => ({
  ...{ line: 0, ordered: 2, canceled: 0, fulfilled: 0, returned: 0, refunded: 0, requiresShipping: true },
  ...fields
})
const life = (fields: Partial<Life> = {}): Life => ({
  ...{ state: 'placed', paymentStatus: 'paid', lines: [line()] },
  ...{ isCancelRequested: false, isHeld: false, isErased: false },
  ...fields
})
const unpaid = { state: 'pending', paymentStatus: 'unpaid' } as const

describe('who may do what', () => {
  test('buyers pay and cancel, guests claim, and they do nothing else', () => {
    const by = (role: string) =>
      Object.entries(ACTIONS)
        .filter(([, { by }]) => (by as readonly string[]).includes(role))
        .map(([name]) => name)
    expect(by('guest')).toEqual(['pay', 'cancel', 'claim'])
    expect(by('customer')).toEqual(['pay', 'cancel'])
  })

  test.each<[string, Partial<Life>, 'unpaid' | 'unshipped' | 'never', string | undefined]>([
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
    ['where nobody may', unpaid, 'never', 'policy'],
    ['when some of it is sent', { lines: [line({ fulfilled: 1 })] }, 'unshipped', 'shipped'],
    ['a second time', { isCancelRequested: true }, 'unshipped', 'cancel_requested'],
    ['when it is canceled', { state: 'canceled' }, 'unshipped', 'state']
  ])('a buyer cancels %s', (_, fields, policy, refusal) => {
    expect(refusalOf('cancel', life(fields), 'customer', policy)).toBe(refusal)
    expect(refusalOf('cancel', life(fields), 'guest', policy)).toBe(refusal)
  })

  test('administrators cancel whatever the policy is, but not what is sent', () => {
    expect(refusalOf('cancel', life(), 'admin', 'never')).toBeUndefined()
    expect(refusalOf('cancel', life({ lines: [line({ fulfilled: 1 })] }), 'admin', 'unshipped')).toBe(
      'shipped'
    )
  })

  test.each<[string, Partial<Life>, ActionName[]]>([
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
      'nobody’s any more',
      { state: 'completed', lines: [line({ fulfilled: 2 })], isErased: true },
      ['return', 'refund', 'note']
    ],
    ['canceled', { state: 'canceled' }, ['note']]
  ])('of one that is %s administrators can do these', (_, fields, actions) => {
    expect(nextActions(life(fields), 'admin', 'never')).toEqual(actions)
  })

  test('of one that is being canceled the shop says whether it is, hears that it is paid, and does nothing else', () => {
    const canceling = { isCancelRequested: true }
    const isOrIsNot = ['confirm_cancel', 'refuse_cancel']
    const sent = { lines: [line({ fulfilled: 2 })] }
    expect(nextActions(life({ ...canceling, ...unpaid }), 'system', 'never')).toEqual(['place', ...isOrIsNot])
    expect(nextActions(life({ ...canceling, ...sent }), 'system', 'never')).toEqual(isOrIsNot)
    expect(nextActions(life(canceling), 'guest', 'unshipped')).toEqual(['claim'])
  })

  test('of one that is nobody’s any more the shop still hears, and says nothing anew', () => {
    const erased = { lines: [line({ fulfilled: 2 })], isErased: true }
    expect(nextActions(life({ ...erased, state: 'completed' }), 'system', 'never')).toEqual([
      ...['deliver', 'come_back', 'refund']
    ])
    expect(refusalOf('place', life({ ...unpaid, isErased: true }), 'system', 'never')).toBe('erased')
    expect(refusalOf('claim', life({ ...erased, state: 'canceled' }), 'guest', 'unshipped')).toBe('erased')
  })

  test('a buyer is told to pay as long as there is something to pay', () => {
    expect(nextActions(life(unpaid), 'customer', 'never')).toEqual(['pay'])
    expect(nextActions(life({ paymentStatus: 'unpaid' }), 'guest', 'unshipped')).toEqual([
      ...['pay', 'cancel', 'claim']
    ])
    expect(nextActions(life(), 'customer', 'unpaid')).toEqual([])
    expect(nextActions(life({ ...unpaid, isCancelRequested: true }), 'customer', 'unpaid')).toEqual([])
  })
})

test('an action that leads nowhere leaves the state, and each state is left by one or reached by one', () => {
  for (const [name, { from, to }] of Object.entries(ACTIONS))
    for (const state of from) expect(stateAfter(name as ActionName, state)).toBe(to ?? state)
  const reached = new Set(Object.values(ACTIONS).flatMap(({ to }) => to ?? []))
  expect([...reached].sort()).toEqual(['canceled', 'completed', 'placed'])
})

test('there is no unit to which two things can be done that exclude each other', () => {
  for (let canceled = 0; canceled <= 3; canceled += 1)
    for (let fulfilled = 0; canceled + fulfilled <= 3; fulfilled += 1) {
      const counters = line({ ordered: 3, canceled, fulfilled })
      expect(left.cancel(counters) + left.refund(counters) + canceled).toBe(3)
    }
})

test('the page about the life of an order has the table of actions', async () => {
  const page = await readFile(new URL('../../../../docs/order-life.md', import.meta.url), 'utf8')
  const rows = Object.entries(ACTIONS).map(
    ([name, { from, to, by, means }]) =>
      `| \`${name}\` | ${from.join(', ')} | ${to ?? ''} | ${by.join(', ')} | ${means} |`
  )
  expect(page).toContain(rows.join('\n').replaceAll('|  |', '| |'))
})
