import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams } from '../../../kernel/wire.ts'
import type { OrderClaims } from './claim-service.ts'
import { credentialsOf, GuestHeaders } from './guest-routes.ts'
import { reading } from './routes.ts'
import { OrderResponse } from './schema.ts'

export function claimRoutes(tiers: Tiers, claims: OrderClaims): void {
  tiers.secured.post(
    '/orders/:id/claim',
    {
      config: reading,
      schema: {
        summary: 'Claim a guest order',
        description:
          'Moves a guest order, in any state, to the account of the customer, with its payments and shipments. Needs the access token of the customer and the `X-Order-Token` of the order. The order token stops working. Claiming the order again returns the same order. 404 `ORDER_NOT_FOUND`: the order token is missing or wrong.',
        params: IdParams,
        headers: GuestHeaders,
        response: { 200: OrderResponse }
      }
    },
    request =>
      claims.claim(identityOf(request).userId, credentialsOf(request, request.params.id), writeOf(request))
  )
}
