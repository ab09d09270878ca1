import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { claimOf, GuestHeaders } from '../guest-orders/routes.ts'
import { reading } from '../orders/routes.ts'
import { OrderResponse } from '../orders/schema.ts'
import type { Claims } from './service.ts'

export function claimRoutes(tiers: Tiers, claims: Claims): void {
  tiers.secured.post(
    '/orders/:id/claim',
    {
      config: reading,
      schema: {
        summary: 'Join the order of a guest to the account of the caller',
        description: 'Its token proves nothing from then on. Who asks again is told the same.',
        params: IdParams,
        headers: GuestHeaders,
        response: { 200: OrderResponse }
      }
    },
    request => claims.claim(identityOf(request).userId, claimOf(request, request.params.id), writeOf(request))
  )
}
