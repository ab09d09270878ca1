import { expect, test } from 'vitest'
import {
  defineModule,
  orderCanceledEvent,
  orderPlacedEvent,
  type PayloadOf,
  paymentPaidEvent
} from '../src/index.ts'
import { customer } from '../src/testing.ts'
import { CHECKOUT_MODULES } from './support/checkouts.ts'
import { sent, TRANSFER, useOrders } from './support/orders.ts'

/** A module as it stands in another repository: it knows what the package exports, and nothing else. */
function createLedger() {
  const placed: PayloadOf<typeof orderPlacedEvent>[] = []
  const paid: { orderId: string; amount: number }[] = []
  const ledger = defineModule({
    name: 'ledger',
    description: 'Writes down what is sold.',
    basePaths: [],
    requires: {},
    uses: {},
    subscribes: [orderPlacedEvent, orderCanceledEvent, paymentPaidEvent],
    setup: async () => ({
      api: {},
      eventHandlers: {
        'orders.placed': async (_tx, events) => {
          for (const { payload } of events) placed.push(payload)
        },
        'orders.canceled': async (_tx, events) => {
          // @ts-expect-error: the event does not say so
          for (const { payload } of events) expect(payload.total).toBeUndefined()
        },
        'payments.paid': async (_tx, events) => {
          for (const { payload } of events) paid.push({ orderId: payload.order_id, amount: payload.amount })
        }
      }
    })
  })
  return { ledger, placed, paid }
}

test('a module of another repository subscribes to events of orders and payments, with typed payloads', async () => {
  const { ledger, placed, paid } = createLedger()
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, ledger] })
  const order = { ...sent(shop.mug, 2), payment: TRANSFER }
  const { json } = await shop.as(customer()).post('/api/orders', order)
  await shop.pay(json.id)
  const { id: order_id, number, total } = json
  await expect.poll(() => placed).toMatchObject([{ order_id, number, currency: 'USD', total }])
  await expect.poll(() => paid).toEqual([{ orderId: order_id, amount: total }])
})
