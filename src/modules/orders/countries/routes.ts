import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { CountryParams, CountryResponse } from './schema.ts'
import type { CountryService } from './service.ts'

export function countryRoutes(tiers: Tiers, countries: CountryService): void {
  tiers.public.get(
    '/countries/:country',
    {
      config: { class: 'browse', cache: 'public' },
      schema: {
        summary: 'What an address needs in a country, and its regions',
        params: CountryParams,
        response: { 200: CountryResponse }
      }
    },
    request => countries.read(request.params.country)
  )
}
