import { expect, test } from 'vitest'
import { admin } from '../../src/testing.ts'
import { readLedger } from '../chaos/ledger.ts'
import { sent } from '../support/orders.ts'
import type { CrashPoint, SentRequest } from './deaths.ts'
import { TIMEOUT_MS, useMortalShop } from './mortal-shop.ts'

const UNITS = 2
const TOTAL = 2_490
const ONE = { lines: [{ line: 1, quantity: 1 }] }
const BOSS = admin()
const REASON = { reason: 'it was broken' }

type Ids = { order: string; payment: string }
type Deed = {
  capture: 'automatic' | 'manual'
  /** The operations that prepare the order. */
  before: readonly ('pay' | 'shipments')[]
  by: 'customer' | 'administrator'
  path(ids: Ids): string
  body(ids: Ids): object
  asksProvider: boolean
  /** The final state of the order, and of its money at the provider. */
  becomes: object
  taken: number
  back: readonly number[]
  /** What is left of each order's units in the stock: how many fewer there are, and how many are reserved. */
  gone: number
  reserved: number
}
const usual = {
  capture: 'automatic',
  before: ['pay'],
  by: 'administrator',
  body: () => ({}),
  asksProvider: true,
  taken: TOTAL,
  back: [],
  gone: 0,
  reserved: UNITS
} as const

const DEEDS: Readonly<Record<string, Deed>> = {
  'a payment is begun': {
    ...usual,
    before: [],
    by: 'customer',
    path: () => '/api/payments/intent',
    body: ({ order }) => ({ order_id: order }),
    becomes: { status: 'pending', payment_status: 'unpaid' },
    taken: 0
  },
  'what is held is taken': {
    ...usual,
    capture: 'manual',
    path: ({ payment }) => `/api/admin/payments/${payment}/capture`,
    becomes: { payment_status: 'paid' }
  },
  'a held payment is voided': {
    ...usual,
    capture: 'manual',
    path: ({ payment }) => `/api/admin/payments/${payment}/void`,
    becomes: { payment_status: 'unpaid' },
    taken: 0
  },
  'some of a payment goes back': {
    ...usual,
    path: ({ payment }) => `/api/admin/payments/${payment}/refund`,
    body: () => ({ amount: 300, ...REASON }),
    becomes: { payment_status: 'partially_refunded' },
    back: [300]
  },
  'an order leaves, and what is held for it is taken': {
    ...usual,
    capture: 'manual',
    path: ({ order }) => `/api/admin/orders/${order}/shipments`,
    becomes: { status: 'shipped', payment_status: 'paid', items: [{ fulfilled: UNITS }] },
    gone: UNITS,
    reserved: 0
  },
  'a unit comes back': {
    ...usual,
    before: ['pay', 'shipments'],
    path: ({ order }) => `/api/admin/orders/${order}/returns`,
    body: () => ONE,
    asksProvider: false,
    becomes: { fulfillment_status: 'partially_returned', items: [{ returned: 1 }] },
    gone: UNITS - 1,
    reserved: 0
  },
  'a unit is paid back': {
    ...usual,
    before: ['pay', 'shipments'],
    path: ({ order }) => `/api/admin/orders/${order}/refunds`,
    body: () => ({ ...ONE, ...REASON }),
    becomes: { payment_status: 'partially_refunded', adjustments: [{ amount: 1_000, back: 1_000 }] },
    back: [1_000],
    gone: UNITS,
    reserved: 0
  },
  'a unit is not delivered': {
    ...usual,
    path: ({ order }) => `/api/admin/orders/${order}/cancel`,
    body: () => ONE,
    becomes: { items: [{ canceled: 1 }], adjustments: [{ amount: 1_000, back: 1_000 }] },
    back: [1_000],
    reserved: UNITS - 1
  },
  'an order is canceled': {
    ...usual,
    by: 'customer',
    path: ({ order }) => `/api/orders/${order}/cancel`,
    becomes: {
      status: 'canceled',
      payment_status: 'refunded',
      adjustments: [{ amount: TOTAL, back: TOTAL }]
    },
    back: [TOTAL],
    reserved: 0
  }
}

const DECIDED: CrashPoint = { statement: 'idempotency.mark_key_applied', at: 'behind its commit' }
/** The provider has executed the operation, and the shop has not received the response. */
const ASKED: CrashPoint = { statement: 'payments.upsert_facts', at: 'before' }

async function useLives(deed: Deed) {
  const shop = await useMortalShop(deed.capture)
  const orders: string[] = []
  async function begin(): Promise<Ids> {
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
      const ids = await begin()
      orders.push(ids.order)
      const token = deed.by === 'customer' ? shop.caller.token : BOSS.token
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

test.each(Object.keys(DEEDS))(
  'a process is killed while %s: the operation is applied once, and the retry succeeds',
  async name => {
    const deed = DEEDS[name] as Deed
    const shop = await useLives(deed)
    const crashPoints = deed.asksProvider ? [DECIDED, ASKED] : [DECIDED]
    await shop.atEachCrashPoint(crashPoints, shop.prepare, async (crashPoint, index, request) => {
      // The retry or the background jobs may run first.
      if (index % 2 === 1) await shop.settled()
      await shop.retried(crashPoint, request)
    })
    await shop.expectMatchingLedgers()
    const { taken, back, becomes, gone, reserved } = deed
    for (const id of shop.orders) {
      expect(await shop.read(id)).toMatchObject(becomes)
      expect(await shop.moneyOf(id)).toEqual({ payments: 1, taken, back })
    }
    const many = shop.orders.length
    const [stock] = await shop.sql('select on_hand, reserved from inventory.levels where item_id = $1', [
      shop.mug
    ])
    expect(stock).toMatchObject({ on_hand: 1_000 - gone * many, reserved: reserved * many })
  },
  TIMEOUT_MS
)
