import { expect, test } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { usePayments } from '../../../../test/support/payments.ts'
import { defineModule } from '../../../module.ts'
import { paymentEvents } from '../events.ts'
import { paymentsModule } from '../index.ts'
import { publishPaymentEvents } from './publish.ts'
import { deriveOrderPaymentAccountState } from './reducer.ts'

const nothing = deriveOrderPaymentAccountState(1_000, [])
const order = { order_id: 'o', currency: 'EUR', due: 1_000 }

function newsOf(before: Partial<typeof nothing>, now: Partial<typeof nothing>): string[] {
  const published: string[] = []
  const publish = ({ name }: { name: string }) => published.push(name)
  publishPaymentEvents(publish as never, order, { ...nothing, ...before }, { ...nothing, ...now }, [])
  return published
}

test('each change of a payment is published once, and an unchanged state publishes nothing', () => {
  const held = { status: 'authorized', authorized: 1_000 } as const
  const paid = { status: 'paid', captured: 1_000 } as const
  expect(newsOf({}, {})).toEqual([])
  expect(newsOf({}, held)).toEqual(['payments.authorized'])
  expect(newsOf(held, held)).toEqual([])
  expect(newsOf(held, paid)).toEqual(['payments.paid'])
  expect(newsOf(paid, paid)).toEqual([])
  expect(newsOf(paid, { ...paid, refunded: 300 })).toEqual(['payments.refunded'])
  expect(newsOf({ ...paid, refunded: 300 }, { ...paid, refunded: 300 })).toEqual([])
  expect(newsOf({ ...paid, refunded: 300 }, paid)).toEqual(['payments.refund_failed'])
  // A refund that is reported before its capture is published after it.
  expect(newsOf({}, { refunded: 300 })).toEqual([])
  expect(newsOf({ refunded: 300 }, { ...paid, refunded: 300 })).toEqual([
    'payments.paid',
    'payments.refunded'
  ])
  expect(newsOf(paid, { ...paid, disputed: 1_000 })).toEqual(['payments.disputed'])
})

test('subscribers get the payment events of an order once each, in order', async () => {
  const received: [string, object][] = []
  const note = (name: string) => async (_tx: unknown, events: readonly { payload: object }[]) => {
    for (const { payload } of events) received.push([name, payload])
  }
  const listener = defineModule({
    name: 'listener',
    description: 'Hears of payments.',
    basePaths: [],
    requires: { payments: paymentsModule },
    uses: {},
    subscribes: paymentEvents,
    setup: async () => ({
      api: {},
      eventHandlers: Object.fromEntries(paymentEvents.map(({ name }) => [name, note(name)])) as never
    })
  })
  const { order: place, intent, act, account, admin } = await usePayments({ modules: [listener] })
  const orderId = await place(10_000)
  const { id } = await intent(orderId)
  await act(id, 'fail')
  await until('the failure is published', () => received.length === 1)
  await act(id, 'pay')
  await until('the account is paid', async () => (await account(orderId)).status === 'paid')
  await admin.post(`/api/admin/payments/${id}/refund`, { amount: 4_000, reason: 'broken' })
  await until('all events are published', () => received.length === 3)
  const about = { order_id: orderId, currency: 'EUR' }
  expect(received).toEqual([
    ['payments.failed', { ...about, payment_id: id, provider: 'sandbox', amount: 10_000 }],
    [
      'payments.paid',
      { ...about, amount: 10_000, captured: 10_000, due: 10_000, is_paid: true, is_overpaid: false }
    ],
    ['payments.refunded', { ...about, amount: 4_000, refunded: 4_000 }]
  ])
})
