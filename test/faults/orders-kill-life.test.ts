import { expect, test } from 'vitest'
import { admin } from '../../src/testing.ts'
import { readLedger } from '../chaos/ledger.ts'
import { sent } from '../support/orders.ts'
import type { CrashPoint, SentRequest } from './crash-points.ts'
import { TIMEOUT_MS, useCrashShop } from './crash-shop.ts'

const UNITS = 2
const TOTAL = 2_490
const ONE = { lines: [{ line: 1, quantity: 1 }] }
const ADMIN = admin()
const REASON = { reason: 'it was broken' }

type Ids = { order: string; payment: string }
type OrderOperation = {
  capture: 'automatic' | 'manual'
  /** The operations that prepare the order. */
  before: readonly ('pay' | 'shipments')[]
  by: 'customer' | 'administrator'
  path(ids: Ids): string
  body(ids: Ids): object
  callsProvider: boolean
  /** The final state of the order, and of its money at the provider. */
  finalOrder: object
  captured: number
  refunds: readonly number[]
  /** Per order: units that left the stock, and units that are still reserved. */
  unitsShipped: number
  unitsReserved: number
}
const defaults = {
  capture: 'automatic',
  before: ['pay'],
  by: 'administrator',
  body: () => ({}),
  callsProvider: true,
  captured: TOTAL,
  refunds: [],
  unitsShipped: 0,
  unitsReserved: UNITS
} as const

const OPERATIONS: Readonly<Record<string, OrderOperation>> = {
  'a payment is created': {
    ...defaults,
    before: [],
    by: 'customer',
    path: () => '/api/payments/intent',
    body: ({ order }) => ({ order_id: order }),
    finalOrder: { status: 'pending', payment_status: 'unpaid' },
    captured: 0
  },
  'an authorized payment is captured': {
    ...defaults,
    capture: 'manual',
    path: ({ payment }) => `/api/admin/payments/${payment}/capture`,
    finalOrder: { payment_status: 'paid' }
  },
  'an authorized payment is voided': {
    ...defaults,
    capture: 'manual',
    path: ({ payment }) => `/api/admin/payments/${payment}/void`,
    finalOrder: { payment_status: 'unpaid' },
    captured: 0
  },
  'a payment is partially refunded': {
    ...defaults,
    path: ({ payment }) => `/api/admin/payments/${payment}/refund`,
    body: () => ({ amount: 300, ...REASON }),
    finalOrder: { payment_status: 'partially_refunded' },
    refunds: [300]
  },
  'an order is shipped and its payment captured': {
    ...defaults,
    capture: 'manual',
    path: ({ order }) => `/api/admin/orders/${order}/shipments`,
    finalOrder: { status: 'shipped', payment_status: 'paid', items: [{ fulfilled: UNITS }] },
    unitsShipped: UNITS,
    unitsReserved: 0
  },
  'a unit is returned': {
    ...defaults,
    before: ['pay', 'shipments'],
    path: ({ order }) => `/api/admin/orders/${order}/returns`,
    body: () => ONE,
    callsProvider: false,
    finalOrder: { fulfillment_status: 'partially_returned', items: [{ returned: 1 }] },
    unitsShipped: UNITS - 1,
    unitsReserved: 0
  },
  'a unit is refunded': {
    ...defaults,
    before: ['pay', 'shipments'],
    path: ({ order }) => `/api/admin/orders/${order}/refunds`,
    body: () => ({ ...ONE, ...REASON }),
    finalOrder: { payment_status: 'partially_refunded', adjustments: [{ amount: 1_000, back: 1_000 }] },
    refunds: [1_000],
    unitsShipped: UNITS,
    unitsReserved: 0
  },
  'a unit is canceled': {
    ...defaults,
    path: ({ order }) => `/api/admin/orders/${order}/cancel`,
    body: () => ONE,
    finalOrder: { items: [{ canceled: 1 }], adjustments: [{ amount: 1_000, back: 1_000 }] },
    refunds: [1_000],
    unitsReserved: UNITS - 1
  },
  'an order is canceled': {
    ...defaults,
    by: 'customer',
    path: ({ order }) => `/api/orders/${order}/cancel`,
    finalOrder: {
      status: 'canceled',
      payment_status: 'refunded',
      adjustments: [{ amount: TOTAL, back: TOTAL }]
    },
    refunds: [TOTAL],
    unitsReserved: 0
  }
}

const AFTER_COMMIT: CrashPoint = { statement: 'idempotency.mark_key_applied', at: 'behind its commit' }
/** The provider has executed the operation, and the shop has not received the response. */
const BEFORE_PROVIDER_RESPONSE: CrashPoint = { statement: 'payments.upsert_facts', at: 'before' }

async function useOperation(deed: OrderOperation) {
  const shop = await useCrashShop(deed.capture)
  const orders: string[] = []
  async function createOrder(): Promise<Ids> {
    if (deed.before.length === 0) {
      const { json } = await shop.buyer.post('/api/orders', sent(shop.mug, UNITS))
      return { order: json.id, payment: '' }
    }
    const { id: order } = await shop.order(UNITS)
    await shop.pay(order)
    if (deed.before.includes('shipments')) await shop.does(order, 'shipments')
    const [payment] = await shop.sql('select id from payments.payments where order_id = $1', [order])
    return { order, payment: String(payment?.id) }
  }
  return {
    ...shop,
    orders,
    prepare: async (): Promise<SentRequest> => {
      const ids = await createOrder()
      orders.push(ids.order)
      const token = deed.by === 'customer' ? shop.caller.token : ADMIN.token
      return shop.keyed({ method: 'POST', path: deed.path(ids), token, body: deed.body(ids) })
    },
    /** Returns the captured and refunded amounts of an order at the provider. */
    moneyOf: async (orderId: string) => {
      const { intents, charges, refunds } = await readLedger(shop.sandbox.folder)
      const own = intents.filter(({ metadata }) => metadata.order_id === orderId).map(({ id }) => id)
      const isOwn = (each: { payment_intent: string }) => own.includes(each.payment_intent)
      return {
        payments: own.length,
        taken: charges.filter(isOwn).reduce((sum, { amount_captured }) => sum + amount_captured, 0),
        back: refunds.filter(isOwn).map(({ amount }) => amount)
      }
    }
  }
}

test.each(Object.keys(OPERATIONS))(
  'a process is killed while %s: the order operation is applied once, and the retry succeeds',
  async name => {
    const deed = OPERATIONS[name] as OrderOperation
    const shop = await useOperation(deed)
    const crashPoints = deed.callsProvider ? [AFTER_COMMIT, BEFORE_PROVIDER_RESPONSE] : [AFTER_COMMIT]
    await shop.atEachCrashPoint(crashPoints, shop.prepare, async (crashPoint, index, request) => {
      // The retry or the background jobs may run first.
      if (index % 2 === 1) await shop.settled()
      await shop.retried(crashPoint, request)
    })
    await shop.expectMatchingLedgers()
    const {
      captured: taken,
      refunds: back,
      finalOrder: becomes,
      unitsShipped: gone,
      unitsReserved: reserved
    } = deed
    for (const id of shop.orders) {
      expect(await shop.read(id)).toMatchObject(becomes)
      expect(await shop.moneyOf(id)).toEqual({ payments: 1, taken, back })
    }
    const orderCount = shop.orders.length
    const [stock] = await shop.sql('select on_hand, reserved from inventory.levels where item_id = $1', [
      shop.mug
    ])
    expect(stock).toMatchObject({ on_hand: 1_000 - gone * orderCount, reserved: reserved * orderCount })
  },
  TIMEOUT_MS
)
