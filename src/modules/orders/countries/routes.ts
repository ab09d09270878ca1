import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { CountryPathParams, CountryResponse } from './schema.ts'
import type { AddressFormatService } from './service.ts'

export function countryRoutes(tiers: Tiers, countries: AddressFormatService): void {
  tiers.public.get(
    '/countries/:country',
    {
      config: { class: 'browse', cache: 'public' },
      schema: {
        summary: "Retrieve a country's address rules",
        description:
          'Returns the fields that an address needs in a country, and the regions that it accepts. Use it to build an address form. `region` is required where taxes or delivery depend on it. Needs no token; caches may keep the response. 404 `COUNTRY_NOT_FOUND`: the code is not an ISO 3166-1 country.',
        params: CountryPathParams,
        response: { 200: CountryResponse }
      }
    },
    request => countries.read(request.params.country)
  )
}
