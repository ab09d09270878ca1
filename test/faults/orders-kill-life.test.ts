import { expect, test } from 'vitest'
import { admin } from '../../src/testing.ts'
import { readLedger } from '../chaos/ledger.ts'
import { sent, TRANSFER } from '../support/orders.ts'
import { CARD } from '../support/paid-orders.ts'
import type { CrashPoint, SentRequest } from './crash-points.ts'
import { TIMEOUT_MS, useCrashShop } from './crash-shop.ts'

// Lane long: kills at many statements of 16 operations take a minute. orders-kill-place.test.ts kills a process while it places an order.

const UNITS = 2
const TOTAL = 2_490
const ONE = { lines: [{ line: 1, quantity: 1 }] }
const ADMIN = admin()
const REASON = { reason: 'it was broken' }

type Ids = { order: string; payment: string; shipment: string }
type OrderOperation = {
  capture: 'automatic' | 'manual'
  /** How the order is paid. `null`: it has no payment yet. */
  payment: typeof CARD | typeof TRANSFER | null
  /** The operations that prepare the order. */
  before: readonly ('pay' | 'shipments')[]
  by: 'customer' | 'administrator'
  path(ids: Ids): string
  body(ids: Ids): object
  callsProvider: boolean
  /** The final state of the order, and of its money: in the shop, and for a card at the provider. */
  finalOrder: object
  captured: number
  refunds: readonly number[]
  /** Per order: units that left the stock, and units that are still reserved. */
  unitsShipped: number
  unitsReserved: number
}
const defaults = {
  capture: 'automatic',
  payment: CARD,
  before: ['pay'],
  by: 'administrator',
  body: () => ({}),
  callsProvider: true,
  captured: TOTAL,
  refunds: [],
  unitsShipped: 0,
  unitsReserved: UNITS
} as const
const byTransfer = { ...defaults, payment: TRANSFER, callsProvider: false } as const

const OPERATIONS: Readonly<Record<string, OrderOperation>> = {
  'a payment is created': {
    ...defaults,
    payment: null,
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
  },
  'a shipment is voided': {
    ...defaults,
    before: ['pay', 'shipments'],
    path: ({ order, shipment }) => `/api/admin/orders/${order}/shipments/${shipment}/void`,
    body: () => REASON,
    callsProvider: false,
    finalOrder: { status: 'paid', payment_status: 'paid', items: [{ fulfilled: 0 }] }
  },
  'a transfer is recorded': {
    ...byTransfer,
    before: [],
    path: ({ payment }) => `/api/admin/payments/${payment}/capture`,
    finalOrder: { status: 'paid', payment_status: 'paid' }
  },
  'a transfer is partially refunded': {
    ...byTransfer,
    path: ({ payment }) => `/api/admin/payments/${payment}/refund`,
    body: () => ({ amount: 300, ...REASON }),
    finalOrder: { payment_status: 'partially_refunded' },
    refunds: [300]
  },
  'an order that waits for a transfer is canceled': {
    ...byTransfer,
    before: [],
    by: 'customer',
    path: ({ order }) => `/api/orders/${order}/cancel`,
    finalOrder: { status: 'canceled', payment_status: 'unpaid' },
    captured: 0,
    unitsReserved: 0
  },
  'an order that was paid by transfer is canceled': {
    ...byTransfer,
    path: ({ order }) => `/api/admin/orders/${order}/cancel`,
    finalOrder: { status: 'canceled', payment_status: 'refunded' },
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
    const body = { ...sent(shop.mug, UNITS), ...(deed.payment && { payment: deed.payment }) }
    const { status, json, text } = await shop.buyer.post('/api/orders', body)
    expect(status, text).toBe(201)
    const order: string = json.id
    const idOf = async (table: string) =>
      String((await shop.sql(`select id from ${table} where order_id = $1`, [order]))[0]?.id)
    const payment = await idOf('payments.payments')
    for (const step of deed.before) {
      if (step === 'shipments') await shop.does(order, 'shipments')
      else if (deed.payment === CARD) await shop.pay(order)
      else expect((await shop.admin.post(`/api/admin/payments/${payment}/capture`, {})).status).toBe(200)
    }
    return { order, payment, shipment: await idOf('shipping.shipments') }
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
    /** Returns the captured and refunded amounts of an order in the shop. */
    accountOf: async (orderId: string) =>
      (
        await shop.sql('select captured::int, refunded::int from payments.accounts where order_id = $1', [
          orderId
        ])
      )[0],
    /** Returns the same at the provider. */
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
      expect(await shop.accountOf(id)).toEqual({
        captured: taken,
        refunded: back.reduce((sum, amount) => sum + amount, 0)
      })
      const atProvider =
        deed.payment === TRANSFER ? { payments: 0, taken: 0, back: [] } : { payments: 1, taken, back }
      expect(await shop.moneyOf(id)).toEqual(atProvider)
    }
    const orderCount = shop.orders.length
    const [stock] = await shop.sql('select on_hand, reserved from inventory.levels where item_id = $1', [
      shop.mug
    ])
    expect(stock).toMatchObject({ on_hand: 1_000 - gone * orderCount, reserved: reserved * orderCount })
  },
  TIMEOUT_MS
)

test(
  'a process is killed while it receives the callback of a payment: the repeated callback records it once',
  async () => {
    const shop = await useCrashShop('automatic')
    const orders: string[] = []
    const prepare = async (): Promise<SentRequest> => {
      const { id } = await shop.order(UNITS)
      orders.push(id)
      await shop.act(id, 'pay')
      const { path, body, headers } = await shop.callbackOf(id)
      return { method: 'POST', path, headers, body: body.toString() }
    }
    const crashPoints: CrashPoint[] = [
      { statement: 'payments.insert_event', at: 'before' },
      { statement: 'payments.insert_event', at: 'behind its commit' }
    ]
    await shop.atEachCrashPoint(crashPoints, prepare, async (crashPoint, _, request) => {
      await shop.retried(crashPoint, request)
    })
    await shop.expectMatchingLedgers()
    for (const id of orders) await shop.becomes(id, { status: 'paid', payment_status: 'paid' })
    const account = 'select captured::int from payments.accounts'
    expect(await shop.sql(account)).toEqual(orders.map(() => ({ captured: TOTAL })))
  },
  TIMEOUT_MS
)

test(
  'a process is killed while stock is adjusted: the adjustment is applied once',
  async () => {
    const shop = await useCrashShop('automatic')
    let adjustments = 0
    const prepare = async (): Promise<SentRequest> => {
      adjustments += 1
      const body = { variant_id: shop.mug, delta: 5, reason: 'a delivery' }
      return shop.keyed({ method: 'POST', path: '/api/inventory/adjustments', token: ADMIN.token, body })
    }
    await shop.atEachCrashPoint([AFTER_COMMIT], prepare, async (crashPoint, _, request) => {
      await shop.retried(crashPoint, request)
    })
    await shop.expectMatchingLedgers()
    const [stock] = await shop.sql('select on_hand from inventory.levels where item_id = $1', [shop.mug])
    expect(stock).toEqual({ on_hand: 1_000 + 5 * adjustments })
  },
  TIMEOUT_MS
)
