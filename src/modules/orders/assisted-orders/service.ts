import { found } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import { adminViewOf } from '../administration/view.ts'
import type { Intake } from '../checkouts/intake.ts'
import { orderNotFound } from '../errors.ts'
import type { OrderTokens } from '../guest-orders/service.ts'
import { findAnyOrder } from '../orders/repository.ts'
import type { Placing } from '../placing/service.ts'
import type { AssistedOrderRequest, AssistedOrderResponse } from './schema.ts'

type Deps = {
  db: Queryable
  intake: Intake
  placing: Placing
  payments: Pick<PaymentsApi, 'proceed'> | undefined
  tokens: Pick<OrderTokens, 'of'>
}
/** What an administrator orders for somebody, and the market that the request names. */
type Assisted = {
  readonly body: AssistedOrderRequest
  readonly market: string | null
  readonly actor: string
}

/** Orders that an administrator places for somebody: in the way of all others, at the shop's prices. */
export function createAssistedOrders({ db, intake, placing, payments, tokens }: Deps) {
  async function read(id: string): Promise<AssistedOrderResponse> {
    const order = found(await db.first(findAnyOrder, { id }), orderNotFound)
    const order_token = order.customer_id === null ? tokens.of(id, order.token_version) : null
    return { order_token, ...adminViewOf(order) }
  }

  /** See `Placing` and `createIntake` for what it throws. */
  async function create({ body, market, actor }: Assisted, write: Write): Promise<AssistedOrderResponse> {
    if (write.alreadyApplied) {
      await payments?.proceed(write.id)
      return read(write.id)
    }
    const { customer_id: customerId = null, market: named = market, payment, ...said } = body
    const { input, source } = await intake(customerId, { body: said, market: named })
    const agreement = { expectedTotal: said.expected_total, quoteHash: undefined }
    await placing.place(
      { customerId, actor, input, source, checkout: null, address: null, agreement, payment },
      write
    )
    return read(write.id)
  }

  return { create }
}
export type AssistedOrders = ReturnType<typeof createAssistedOrders>
