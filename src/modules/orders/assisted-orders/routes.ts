import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { inMarket, marketNamed } from '../../../kernel/wire.ts'
import { AssistedOrderRequest, AssistedOrderResponse } from './schema.ts'
import type { AssistedOrders } from './service.ts'

export function assistedOrderRoutes(tiers: Tiers, orders: AssistedOrders): void {
  tiers.admin.post(
    '/admin/orders',
    {
      config: { class: 'checkout', secret: 201, unversioned: true },
      schema: {
        ...inMarket,
        summary: 'Order items for a customer, or for a guest',
        body: AssistedOrderRequest,
        response: { 201: AssistedOrderResponse }
      }
    },
    request =>
      orders.create(
        {
          body: request.body,
          market: marketNamed(request) ?? null,
          actor: identityOf(request).userId
        },
        writeOf(request)
      )
  )
}
