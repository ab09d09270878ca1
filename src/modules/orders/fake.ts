import { newId } from '../../kernel/ids.ts'
import type { OrdersApi } from './index.ts'

type Bought = { readonly variantId: string; readonly productId: string }
type Order = {
  readonly customerId: string
  readonly lines: readonly Bought[]
  state: 'pending' | 'placed' | 'canceled'
}

/** Orders in memory that keep the contract of `OrdersApi`, for tests of those who ask it. */
export type FakeOrders = OrdersApi & {
  /** This customer orders one of each, and has not paid yet; answers the id of the order. */
  order(customerId: string, lines: readonly Bought[]): string
  /** It is paid, and looked after from now on. */
  place(orderId: string): void
  cancel(orderId: string): void
}

export function fakeOrders(): FakeOrders {
  const orders = new Map<string, Order>()
  const become = (id: string, state: Order['state']) => {
    const order = orders.get(id)
    if (order !== undefined) order.state = state
  }
  return {
    bought: async (_db, customerId, ids) => {
      const own = [...orders.values()].filter(
        order => order.customerId === customerId && order.state === 'placed'
      )
      const known = new Set(
        own.flatMap(({ lines }) => lines.flatMap(({ variantId, productId }) => [variantId, productId]))
      )
      return new Set(ids.filter(id => known.has(id)))
    },
    order: (customerId, lines) => {
      const id = newId()
      orders.set(id, { customerId, lines, state: 'pending' })
      return id
    },
    place: id => become(id, 'placed'),
    cancel: id => become(id, 'canceled')
  }
}
