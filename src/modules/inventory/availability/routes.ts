import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { AvailabilityQuery, AvailabilityResponse } from './schema.ts'
import type { AvailabilityService } from './service.ts'

export function availabilityRoutes(tiers: Tiers, availability: AvailabilityService): void {
  tiers.public.get(
    '/inventory/availability',
    {
      config: { class: 'browse' },
      schema: {
        summary: 'List available quantities',
        description:
          'Returns how many units of up to 100 variants can be bought, in the order of the request. The figures are a second old at most. Needs no token.',
        querystring: AvailabilityQuery,
        response: { 200: AvailabilityResponse }
      }
    },
    request => availability.list(request.query)
  )
}
