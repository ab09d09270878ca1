import { expect, test } from 'vitest'
import { brokenNotices, type OrderNotices } from './notices.ts'
import type { Operation } from './operations.ts'
import type { Mail, Webhook } from './receivers.ts'

const order: OrderNotices = {
  id: 'o1',
  number: 'N1',
  isPlaced: true,
  isCanceled: false,
  shipments: [{ id: 's1', isVoided: false }],
  credits: ['c1']
}
const webhook = (id: string, type: string, data: object): Webhook => ({
  id,
  body: JSON.stringify({ type, data: { order_id: 'o1', ...data } })
})
const webhooks = [
  webhook('1', 'orders.created', {}),
  webhook('2', 'orders.placed', {}),
  webhook('3', 'payments.paid', { is_paid: true }),
  webhook('4', 'orders.shipped', { shipment_id: 's1' }),
  webhook('5', 'orders.credited', { adjustment_id: 'c1' }),
  webhook('6', 'payments.refunded', {}),
  webhook('7', 'payments.refunded', {})
]
const mail = (id: string, subject: string, text = ''): Mail => ({ id, subject, text })
const mails = [
  mail('a', 'Your order N1'),
  mail('b', 'Your payment for order N1'),
  mail('c', 'Your order N1 is on its way', 'Tracking number: chaos-1'),
  mail('d', 'Your refund for order N1'),
  mail('e', 'Your refund for order N1')
]
const shipped: Operation = {
  kind: 'ship',
  note: 'chaos-1',
  key: 'key',
  request: { method: 'POST', path: '/' },
  about: {},
  state: 'acknowledged',
  isUncertain: false
}

test('the chaos judge expects no separate mail for a payment that places its order', () => {
  const at = (timestamp: string, type: string, data: object): Webhook => ({
    id: type,
    body: JSON.stringify({ type, timestamp, data: { order_id: 'o1', ...data } })
  })
  const webhooksWith = (paidAt: string) => [
    webhook('1', 'orders.created', {}),
    at('2026-11-23T10:00:00.001Z', 'orders.placed', {}),
    at(paidAt, 'payments.paid', { is_paid: true })
  ]
  const bare: OrderNotices = { ...order, shipments: [], credits: [] }
  const broken = (paidAt: string, ...subjects: string[]) =>
    brokenNotices([], [bare], {
      webhooks: webhooksWith(paidAt),
      mails: subjects.map(each => mail(each, each))
    })
  expect(broken('2026-11-23T10:00:00.002Z', 'Your order N1')).toEqual([])
  expect(broken('2026-11-23T10:00:00.002Z', 'Your order N1', 'Your payment for order N1')).toHaveLength(1)
  expect(broken('2026-11-23T11:00:00.000Z', 'Your order N1')).toHaveLength(1)
  // The shop may treat two transactions that follow each other within 100 ms as one.
  expect(broken('2026-11-23T10:00:00.041Z', 'Your order N1')).toEqual([])
  expect(broken('2026-11-23T10:00:00.041Z', 'Your order N1', 'Your payment for order N1')).toEqual([])
})

test('the chaos judge accepts a webhook that arrives twice with one id', () => {
  const all = { webhooks: [...webhooks, ...webhooks], mails: [...mails, ...mails] }
  expect(brokenNotices([shipped], [order], all)).toEqual([])
})

test('the chaos judge expects no mail to a buyer who cancels an unpaid order, and one if an administrator cancels', () => {
  const given: OrderNotices = { ...order, isPlaced: false, isCanceled: true, shipments: [], credits: [] }
  const canceled = (by: string) => [
    webhook('1', 'orders.created', {}),
    webhook('2', 'orders.canceled', { by })
  ]
  expect(brokenNotices([], [given], { webhooks: canceled('guest'), mails: [] })).toEqual([])
  expect(brokenNotices([], [given], { webhooks: canceled('admin'), mails: [] }).join()).toContain(
    'is canceled'
  )
  const mailed = [mail('a', 'Your order N1 is canceled')]
  expect(brokenNotices([], [given], { webhooks: canceled('admin'), mails: mailed })).toEqual([])
})

test.each([
  [
    'two webhook ids',
    'orders.placed of o1 arrived under 2 ids',
    [...webhooks, webhook('9', 'orders.placed', {})],
    mails
  ],
  ['a missing webhook', 'orders.created of o1 arrived under 0 ids', webhooks.slice(1), mails],
  [
    'another body in the second try',
    'arrived with different bodies',
    [...webhooks, webhook('2', 'orders.placed', { total: 1 })],
    mails
  ],
  [
    'a webhook of what never happened',
    'orders.canceled of o1 arrived, which never happened',
    [...webhooks, webhook('9', 'orders.canceled', {})],
    mails
  ],
  [
    'two mails of an order',
    '"Your order N1" arrived under 2 ids',
    webhooks,
    [...mails, mail('z', 'Your order N1')]
  ],
  ['a missing mail', '"Your order N1" arrived under 0 ids', webhooks, mails.slice(1)],
  [
    'a refund mailed twice',
    'arrived under 3 ids, not 2',
    webhooks,
    [...mails, mail('z', 'Your refund for order N1')]
  ],
  [
    'a shipment mailed twice',
    'shipment chaos-1 arrived under 2 ids',
    webhooks,
    [...mails, mail('z', 'Your order N1 is on its way', 'chaos-1')]
  ]
] as [string, string, Webhook[], Mail[]][])(
  'the chaos judge finds wrong webhooks or mails: %s',
  (_, words, hooks, letters) => {
    expect(brokenNotices([shipped], [order], { webhooks: hooks, mails: letters }).join('\n')).toContain(words)
  }
)
