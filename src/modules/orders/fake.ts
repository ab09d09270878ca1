import { newId } from '../../kernel/ids.ts'
import { ordersOpen } from './errors.ts'
import type { OrdersApi } from './index.ts'

type Bought = { readonly variantId: string; readonly productId: string }
type Order = {
  customerId: string | null
  readonly lines: readonly Bought[]
  state: 'pending' | 'placed' | 'completed' | 'canceled'
}

/** Orders in memory that keep the contract of `OrdersApi`, for tests of those who ask it. */
export type FakeOrders = OrdersApi & {
  /** This customer orders one of each, and has not paid yet; answers the id of the order. */
  order(customerId: string, lines: readonly Bought[]): string
  /** It is paid, and looked after from now on. */
  place(orderId: string): void
  complete(orderId: string): void
  cancel(orderId: string): void
}

export function fakeOrders(): FakeOrders {
  const orders = new Map<string, Order>()
  const become = (id: string, state: Order['state']) => {
    const order = orders.get(id)
    if (order !== undefined) order.state = state
  }
  const ownOf = (customerId: string) => [...orders].filter(([, order]) => order.customerId === customerId)
  return {
    forget: async (tx, customerId) => {
      const own = ownOf(customerId)
      const open = own.filter(([, { state }]) => state === 'pending' || state === 'placed')
      if (open.length > 0) throw ordersOpen({ details: { numbers: open.map(([id]) => id) } })
      tx.afterCommit(() => {
        for (const [, order] of own) order.customerId = null
      })
    },
    exportCsv: () => {
      throw new Error('nothing can be exported from orders in memory')
    },
    letters: async () => [],
    dataRequest: async () => undefined,
    figures: async () => ({ days: [], units: [], products: [] }),
    bought: async (_db, customerId, ids) => {
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
    place: id => become(id, 'placed'),
    complete: id => become(id, 'completed'),
    cancel: id => become(id, 'canceled')
  }
}
