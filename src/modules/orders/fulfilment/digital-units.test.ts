import { expect, test } from 'vitest'
import type { OrderLifecycleFacts } from '../lifecycle/actions.ts'
import type { PaymentTerms } from '../lifecycle/terms.ts'
import { deliverableDigitalUnits } from './digital.ts'

const counters = { ordered: 3, canceled: 0, fulfilled: 0, returned: 0, refunded: 0 }
const LINES = [
  { ...counters, line: 1, requiresShipping: true },
  { ...counters, line: 2, requiresShipping: false, canceled: 1 },
  { ...counters, line: 3, requiresShipping: false, fulfilled: 3 }
]
const PAID: OrderLifecycleFacts = {
  state: 'placed',
  paymentStatus: 'paid',
  lines: LINES,
  isCancelRequested: false,
  isHeld: false,
  isErased: false
}

test.each<[string, Partial<OrderLifecycleFacts>, PaymentTerms, boolean]>([
  ['it is paid', {}, 'prepaid', true],
  ['some of its money has gone back', { paymentStatus: 'partially_refunded' }, 'prepaid', true],
  ['all of its money has gone back', { paymentStatus: 'refunded' }, 'prepaid', false],
  ['its money is only held', { paymentStatus: 'authorized' }, 'prepaid', false],
  ['it is paid in part', { paymentStatus: 'partially_paid' }, 'prepaid', false],
  ['it is paid later', { paymentStatus: 'unpaid' }, 'on_account', true],
  ['it is paid when the rest arrives', { paymentStatus: 'unpaid' }, 'cod', false],
  ['the rest has arrived and is paid', {}, 'cod', true],
  ['payments are switched off', { paymentStatus: null }, 'on_account', true],
  ['it waits for its payment', { state: 'pending', paymentStatus: 'unpaid' }, 'prepaid', false],
  ['an administrator holds it', { isHeld: true }, 'prepaid', false],
  ['a cancellation is pending', { isCancelRequested: true }, 'prepaid', false],
  ['it is canceled', { state: 'canceled' }, 'prepaid', false],
  ['it is done', { state: 'completed' }, 'prepaid', false]
])(
  'whether the digital units of an order can be delivered depends on its state: when %s',
  (_, fields, terms, isDelivered) => {
    const units = [{ line: 2, quantity: 2 }]
    expect(deliverableDigitalUnits({ ...PAID, ...fields }, terms)).toEqual(isDelivered ? units : [])
  }
)
