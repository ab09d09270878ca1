import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { customerBuyerOfRequest } from '../buyers/routes.ts'
import type { OrderClaimService } from './claim-service.ts'
import { GuestOrderHeaders } from './guest-routes.ts'
import { orderReadingRequestCost } from './routes.ts'
import { OrderResponse } from './schema.ts'

export function orderClaimRoutes(tiers: Tiers, claims: OrderClaimService): void {
  tiers.secured.post(
    '/orders/:id/claim',
    {
      config: orderReadingRequestCost,
      schema: {
        summary: 'Claim a guest order',
        description:
          'Moves a guest order, in any state, to the account of the customer, with its payments and shipments. Needs the access token of the customer and the `X-Order-Token` of the order. The order token stops working. Claiming the order again returns the same order. 404 `ORDER_NOT_FOUND`: the order token is missing or wrong.',
        params: IdParams,
        headers: GuestOrderHeaders,
        response: { 200: OrderResponse }
      }
    },
    request =>
      claims.claim(
        customerBuyerOfRequest(request),
        { id: request.params.id, token: request.headers['x-order-token'] },
        writeOf(request)
      )
  )
}
