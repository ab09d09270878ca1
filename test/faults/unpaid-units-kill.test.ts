import { expect, test } from 'vitest'
import { customer } from '../../src/testing.ts'
import { sent, TRANSFER } from '../support/orders.ts'
import type { CrashPoint, SentRequest } from './crash-points.ts'
import { TIMEOUT_MS, useCrashShop } from './crash-shop.ts'

// Lane long: it takes 10 seconds. orders-kill-place.test.ts kills a process while it places an order.

const UNITS = 2
type Shop = Awaited<ReturnType<typeof useCrashShop>>
type OrderOperation = {
  /** The existing order: by bank transfer, without a payment, or none. */
  readonly before: 'transfer' | 'no payment' | 'nothing'
  readonly path: (id: string) => string
  readonly body: (shop: Shop, id: string) => object
  readonly crashPoints: readonly CrashPoint[]
  /** Units that are counted after the operation. */
  readonly counted: number
}
const OPERATIONS: Readonly<Record<string, OrderOperation>> = {
  'an order by bank transfer is placed': {
    before: 'nothing',
    path: () => '/api/orders',
    body: shop => ({ ...sent(shop.mug, UNITS), payment: TRANSFER }),
    crashPoints: [
      { statement: 'orders.insert_unpaid_units', at: 'before' },
      { statement: 'orders.insert_unpaid_units', at: 'behind' },
      { statement: 'idempotency.mark_key_applied', at: 'behind its commit' }
    ],
    counted: UNITS
  },
  'a bank transfer is chosen for an order': {
    before: 'no payment',
    path: () => '/api/payments/intent',
    body: (_shop, order_id) => ({ order_id, ...TRANSFER }),
    crashPoints: [
      { statement: 'orders.defer_order', at: 'before' },
      { statement: 'orders.insert_unpaid_units', at: 'behind' },
      { statement: 'idempotency.mark_key_applied', at: 'behind its commit' }
    ],
    counted: UNITS
  },
  'an order by bank transfer is canceled': {
    before: 'transfer',
    path: id => `/api/orders/${id}/cancel`,
    body: () => ({}),
    crashPoints: [
      { statement: 'orders.sync_unpaid_units', at: 'behind' },
      { statement: 'idempotency.mark_key_applied', at: 'behind its commit' }
    ],
    counted: 0
  }
}

test.each(Object.entries(OPERATIONS))(
  "a process is killed while %s: the order's units count as unpaid stock once or not at all",
  async (_name, { before, path, body, crashPoints, counted }) => {
    const shop = await useCrashShop('automatic')
    const prepare = async (): Promise<SentRequest> => {
      const { token } = customer()
      const payment = before === 'transfer' ? TRANSFER : undefined
      const order = { ...sent(shop.mug, UNITS), payment }
      const id = before === 'nothing' ? '' : (await shop.as({ token }).post('/api/orders', order)).json.id
      return shop.keyed({ method: 'POST', path: path(id), token, body: body(shop, id) })
    }
    let done = 0
    await shop.atEachCrashPoint(crashPoints, prepare, async (crashPoint, _index, request) => {
      await shop.retried(crashPoint, request)
      done += 1
      const [row] = await shop.sql('select coalesce(sum(units), 0)::int as units from orders.unpaid_units')
      expect(row?.units, crashPoint).toBe(counted * done)
    })
    await shop.expectMatchingLedgers()
  },
  TIMEOUT_MS
)
