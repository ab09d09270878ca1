import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { AvailabilityQuery, AvailabilityResponse } from './schema.ts'
import type { AvailabilityService } from './service.ts'

export function availabilityRoutes(tiers: Tiers, availability: AvailabilityService): void {
  tiers.public.get(
    '/inventory/availability',
    {
      config: { class: 'browse' },
      schema: {
        summary: 'How many of each variant can be bought',
        querystring: AvailabilityQuery,
        response: { 200: AvailabilityResponse }
      }
    },
    request => availability.list(request.query)
  )
}
