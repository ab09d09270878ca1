import { newId } from '../../kernel/ids.ts'
import { ordersStillOpenError } from './errors.ts'
import type { OrdersApi } from './index.ts'

type Bought = { readonly variantId: string; readonly productId: string }
type Order = {
  customerId: string | null
  readonly lines: readonly Bought[]
  state: 'pending' | 'placed' | 'completed' | 'canceled'
}

/** Orders in memory that keep the contract of `OrdersApi`, for tests of other modules. */
export type FakeOrders = OrdersApi & {
  /** Creates an unpaid order with one unit of each variant. Returns the id of the order. */
  order(customerId: string, lines: readonly Bought[]): string
  /** Changes an order from pending to placed, as a payment does. */
  place(orderId: string): void
  complete(orderId: string): void
  cancel(orderId: string): void
}

export function fakeOrders(): FakeOrders {
  const orders = new Map<string, Order>()
  const setState = (id: string, state: Order['state']) => {
    const order = orders.get(id)
    if (order !== undefined) order.state = state
  }
  const ownOf = (customerId: string) => [...orders].filter(([, order]) => order.customerId === customerId)
  const fail = () => {
    throw new Error('the fake places no orders; use `order`')
  }
  return {
    checkouts: { begin: fail, update: fail, read: fail, cancel: fail, complete: fail },
    orders: { place: fail, read: fail, list: fail, updateMetadata: fail },
    erase: async (tx, customerId) => {
      const own = ownOf(customerId)
      const open = own.filter(([, { state }]) => state === 'pending' || state === 'placed')
      if (open.length > 0) throw ordersStillOpenError({ details: { numbers: open.map(([id]) => id) } })
      tx.afterCommit(() => {
        for (const [, order] of own) order.customerId = null
      })
    },
    exportCsv: () => {
      throw new Error('the fake has no export')
    },
    orderSummaries: async () => [],
    orderToken: () => '',
    findDataRequest: async () => undefined,
    statistics: async () => ({ days: [], units: [], products: [] }),
    findPurchased: async (_db, customerId, ids) => {
      const own = ownOf(customerId).filter(([, { state }]) => state === 'placed' || state === 'completed')
      const known = new Set(
        own.flatMap(([, { lines }]) => lines.flatMap(({ variantId, productId }) => [variantId, productId]))
      )
      return new Set(ids.filter(id => known.has(id)))
    },
    order: (customerId, lines) => {
      const id = newId()
      orders.set(id, { customerId, lines, state: 'pending' })
      return id
    },
    place: id => setState(id, 'placed'),
    complete: id => setState(id, 'completed'),
    cancel: id => setState(id, 'canceled')
  }
}
