import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { GuestCheckoutService, GuestCredentials } from '../checkouts/guest-service.ts'
import { orderNotFound } from '../errors.ts'
import type { OrderRow } from './repository.ts'
import type { GuestOrderResponse, OrderResponse } from './schema.ts'
import type { CheckoutCompletionInput, OrderRequestInput, OrderService } from './service.ts'

/** Creates and verifies order tokens, which prove access to guest orders. Payments use the same tokens. */
export type OrderTokens = {
  create(orderId: string, version: number): string
  verify(token: string, orderId: string, version: number): boolean
}
type Deps = {
  orders: OrderService
  checkouts: Pick<GuestCheckoutService, 'verifyToken'>
  tokens: OrderTokens
}

/** Orders of guests, who prove access by an order token instead of an account. */
export function createGuestOrderService({ orders, checkouts, tokens }: Deps) {
  const withToken = (order: OrderRow): GuestOrderResponse => ({
    order_token: tokens.create(order.id, order.token_version),
    ...orders.show(order)
  })

  async function findByToken({ id, token = '' }: GuestCredentials): Promise<OrderRow> {
    const order = await orders.find(null, id)
    if (!tokens.verify(token, id, order.token_version)) throw orderNotFound()
    return order
  }

  return {
    create: async (ordered: OrderRequestInput, write: IdempotentWrite) => {
      const { order, isNew } = await orders.create(null, ordered, write)
      return { order: withToken(order), isNew }
    },
    /** `credentials`: of the checkout. @throws `CHECKOUT_NOT_FOUND`, and as `OrderService.complete` */
    complete: async (
      credentials: GuestCredentials,
      completed: Omit<CheckoutCompletionInput, 'id'>,
      write: IdempotentWrite
    ) => {
      const id = checkouts.verifyToken(credentials)
      const { order, isNew } = await orders.complete(null, { id, ...completed }, write)
      return { order: withToken(order), isNew }
    },
    /** @throws `ORDER_NOT_FOUND` */
    read: async (credentials: GuestCredentials): Promise<OrderResponse> =>
      orders.show(await findByToken(credentials)),
    /** @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_NOT_CANCELABLE` */
    cancel: async (credentials: GuestCredentials, write: IdempotentWrite): Promise<OrderResponse> =>
      orders.cancel(null, (await findByToken(credentials)).id, write)
  }
}
export type GuestOrderService = ReturnType<typeof createGuestOrderService>
