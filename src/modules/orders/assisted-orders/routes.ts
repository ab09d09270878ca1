import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { marketParameters } from '../../../kernel/wire.ts'
import { assistedBuyerOfRequest } from '../buyers/routes.ts'
import { placeOrderInputOfRequest } from '../checkouts/place-order.ts'
import { AssistedOrderRequest, AssistedOrderResponse } from './schema.ts'
import type { AssistedOrderService } from './service.ts'

export function assistedOrderRoutes(tiers: Tiers, orders: AssistedOrderService): void {
  tiers.admin.post(
    '/admin/orders',
    {
      config: { class: 'checkout', secret: 201, unversioned: true },
      schema: {
        ...marketParameters,
        summary: 'Create an order for a buyer',
        description:
          'Creates an order for the customer in `customer_id`, or for a guest with `email`, whose `order_token` it returns. Prices and checks are those of the buyer’s own order, without the limits by client address. 400 `ORDER_INCOMPLETE`: `errors` name the missing or invalid fields. 409 `ORDER_PRICE_CHANGED`: show the new price in `quote` and send its total as `expected_total`. 409 `INVENTORY_SHORT` or `ORDER_ITEMS_UNAVAILABLE`: `items` name the affected lines. 409 `SHIPPING_NOT_AVAILABLE`, `ORDER_CODE_REFUSED` or `ORDER_PENDING_LIMIT`: choose another option, remove the codes, or pay an open order.',
        body: AssistedOrderRequest,
        response: { 201: AssistedOrderResponse }
      }
    },
    request => {
      const { customer_id = null, ...body } = placeOrderInputOfRequest(request)
      return orders.create(assistedBuyerOfRequest(request, customer_id), body, writeOf(request))
    }
  )
}
