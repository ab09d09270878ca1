import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { OrderPayments } from '../../payments/index.ts'
import { adminOrderView } from '../administration/view.ts'
import type { AssistedBuyer } from '../buyers/buyer.ts'
import type { PlaceOrderInput } from '../checkouts/place-order.ts'
import { orderNotFoundError } from '../errors.ts'
import { findOrderOfAnyBuyer } from '../orders/repository.ts'
import type { OrderService, OrderTokens } from '../orders/service.ts'
import type { AssistedOrderResponse } from './schema.ts'

type Deps = {
  db: Queryable
  orders: Pick<OrderService, 'create'>
  payments: Pick<OrderPayments, 'sendOperations'> | undefined
  tokens: Pick<OrderTokens, 'create'>
}
/**
 * Creates orders for buyers on behalf of an administrator, with the same prices and checks as other orders.
 */
export function createAssistedOrderService({ db, orders, payments, tokens }: Deps) {
  async function read(id: string): Promise<AssistedOrderResponse> {
    const order = found(await db.first(findOrderOfAnyBuyer, { id }), orderNotFoundError)
    const order_token = order.customer_id === null ? tokens.create(id, order.token_version) : null
    return { order_token, ...adminOrderView(order) }
  }

  /** A retry also finds an order that its guest has claimed in the meantime. See `OrderCommands.place`. */
  async function create(
    buyer: AssistedBuyer,
    request: PlaceOrderInput,
    write: IdempotentWrite
  ): Promise<AssistedOrderResponse> {
    if (write.alreadyApplied) await payments?.sendOperations(write.id, write.withoutSlot)
    else await orders.create(buyer, request, write)
    return read(write.id)
  }

  return { create }
}
export type AssistedOrderService = ReturnType<typeof createAssistedOrderService>
