import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { listOf } from '../../../kernel/wire.ts'
import { ReservationQuery, ReservationResponse } from './schema.ts'
import type { ReservationService } from './service.ts'

export function reservationRoutes(tiers: Tiers, reservations: ReservationService): void {
  tiers.admin.get(
    '/inventory/reservations',
    {
      config: { class: 'account' },
      schema: {
        summary: 'List stock reservations',
        description:
          'Returns a page of the stock reservations of orders. Filter by `owner`, `variant_id` or `state`.',
        querystring: ReservationQuery,
        response: { 200: listOf(ReservationResponse) }
      }
    },
    request => reservations.list(request.query)
  )
}
