import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { OrderParams, ShipmentsResponse } from './schema.ts'
import type { ShipmentService } from './service.ts'

export function shipmentRoutes(tiers: Tiers, shipments: ShipmentService): void {
  tiers.secured.get(
    '/shipping/order/:order_id',
    {
      config: { class: 'account' },
      schema: {
        summary: 'How an order of yours comes, and where it is',
        params: OrderParams,
        response: { 200: ShipmentsResponse }
      }
    },
    request => shipments.ofOrder(identityOf(request).userId, request.params.order_id)
  )
}
