import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import { adminOrderView } from '../administration/view.ts'
import type { ReadCheckoutInput } from '../checkouts/read-input.ts'
import { orderNotFound } from '../errors.ts'
import type { OrderTokens } from '../orders/guest-service.ts'
import { findAnyOrder } from '../orders/repository.ts'
import type { OrderPlacement } from '../placement/service.ts'
import type { AssistedOrderRequest, AssistedOrderResponse } from './schema.ts'

type Deps = {
  db: Queryable
  readCheckoutInput: ReadCheckoutInput
  placement: OrderPlacement
  payments: Pick<PaymentsApi, 'sendOperations'> | undefined
  tokens: Pick<OrderTokens, 'create'>
}
/** The body of an administrator's request, and the market that its header or query names. */
type RequestedAssistedOrder = {
  readonly body: AssistedOrderRequest
  readonly market: string | null
  readonly actor: string
}

/**
 * Creates orders for buyers on behalf of an administrator, with the same prices and checks as other orders.
 */
export function createAssistedOrderService({ db, readCheckoutInput, placement, payments, tokens }: Deps) {
  async function read(id: string): Promise<AssistedOrderResponse> {
    const order = found(await db.first(findAnyOrder, { id }), orderNotFound)
    const order_token = order.customer_id === null ? tokens.create(id, order.token_version) : null
    return { order_token, ...adminOrderView(order) }
  }

  /** @throws as `placeOrder` and `readCheckoutInput` */
  async function create(
    { body, market, actor }: RequestedAssistedOrder,
    write: IdempotentWrite
  ): Promise<AssistedOrderResponse> {
    if (write.alreadyApplied) {
      await payments?.sendOperations(write.id)
      return read(write.id)
    }
    const { customer_id: customerId = null, market: named = market, payment, ...rest } = body
    const { input, source } = await readCheckoutInput(customerId, { body: rest, market: named })
    const agreement = { expectedTotal: rest.expected_total, quoteHash: undefined }
    await placement.placeOrder(
      { customerId, actor, input, source, checkout: null, address: null, agreement, payment },
      write
    )
    return read(write.id)
  }

  return { create }
}
export type AssistedOrderService = ReturnType<typeof createAssistedOrderService>
