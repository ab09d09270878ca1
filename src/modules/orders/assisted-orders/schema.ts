import { showsFieldsOf } from '../../../kernel/resource-schemas.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, nullable, request, response } from '../../../kernel/wire.ts'
import { AdminOrderResponse } from '../administration/schema.ts'
import { OrderRequest } from '../checkouts/place-order.ts'
import { RequestedItemsSchema } from '../checkouts/schema.ts'
import { orderResource } from '../orders/schema.ts'

const { items: _, ...orderFields } = OrderRequest.properties
export const AssistedOrderRequest = request('AssistedOrderRequest', {
  customer_id: Type.Optional({
    ...Id,
    description: 'The customer who owns the order. Without it the order is a guest order and needs `email`.'
  }),
  items: RequestedItemsSchema,
  ...orderFields
})

export const AssistedOrderResponse = showsFieldsOf(
  orderResource,
  'admin',
  response('AssistedOrderResponse', {
    order_token: nullable(
      Type.String({
        description: 'Token that the guest sends as `X-Order-Token`. Null: a customer owns the order.'
      })
    ),
    ...AdminOrderResponse.properties
  })
)
export type AssistedOrderResponse = Static<typeof AssistedOrderResponse>
