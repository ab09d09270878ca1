import type { Write } from '../../../platform/idempotency/write.ts'
import { orderNotFound } from '../errors.ts'
import type { Claim, GuestCheckoutService } from '../guest/service.ts'
import type { OrderRow } from '../orders/repository.ts'
import type { GuestOrderResponse, OrderResponse } from '../orders/schema.ts'
import type { Completed, Ordered, OrderService } from '../orders/service.ts'

/** What shows that an order without an account is the caller's. */
export type OrderTokens = {
  of(orderId: string, version: number): string
  isOf(token: string, orderId: string, version: number): boolean
}
type Deps = { orders: OrderService; checkouts: Pick<GuestCheckoutService, 'proved'>; tokens: OrderTokens }

/** Orders of people without an account: the same ones, reached by a token, which payments take, too. */
export function createGuestOrderService({ orders, checkouts, tokens }: Deps) {
  const withToken = (order: OrderRow): GuestOrderResponse => ({
    order_token: tokens.of(order.id, order.token_version),
    ...orders.show(order)
  })

  async function proved({ id, token = '' }: Claim): Promise<OrderRow> {
    const order = await orders.find(null, id)
    if (!tokens.isOf(token, id, order.token_version)) throw orderNotFound()
    return order
  }

  return {
    create: async (ordered: Ordered, write: Write) => {
      const { order, isNew } = await orders.create(null, ordered, write)
      return { order: withToken(order), isNew }
    },
    /** `claim` is of the checkout. @throws `CHECKOUT_NOT_FOUND`, and as those of customers */
    complete: async (claim: Claim, completed: Omit<Completed, 'id'>, write: Write) => {
      const id = checkouts.proved(claim)
      const { order, isNew } = await orders.complete(null, { id, ...completed }, write)
      return { order: withToken(order), isNew }
    },
    /** @throws `ORDER_NOT_FOUND` */
    read: async (claim: Claim): Promise<OrderResponse> => orders.show(await proved(claim)),
    /** @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_NOT_CANCELABLE` */
    cancel: async (claim: Claim, write: Write): Promise<OrderResponse> =>
      orders.cancel(null, (await proved(claim)).id, write)
  }
}
export type GuestOrderService = ReturnType<typeof createGuestOrderService>
