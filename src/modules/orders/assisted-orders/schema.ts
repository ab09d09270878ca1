import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, nullable, request, response } from '../../../kernel/wire.ts'
import { AdminOrderResponse } from '../administration/schema.ts'
import { Items } from '../checkouts/schema.ts'
import { OrderRequest } from '../orders/schema.ts'

const { items: _, ...said } = OrderRequest.properties
export const AssistedOrderRequest = request('AssistedOrderRequest', {
  customer_id: Type.Optional({
    ...Id,
    description: 'Whose order it becomes; without one, that of a guest, and `email` is needed.'
  }),
  items: Items,
  ...said
})
export type AssistedOrderRequest = Static<typeof AssistedOrderRequest>

export const AssistedOrderResponse = response('AssistedOrderResponse', {
  order_token: nullable(
    Type.String({ description: 'What a guest sends as X-Order-Token; null: it is of a customer.' })
  ),
  ...AdminOrderResponse.properties
})
export type AssistedOrderResponse = Static<typeof AssistedOrderResponse>
