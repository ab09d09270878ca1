import { regionsOfAreas } from '../../../kernel/areas.ts'
import { countryCodes, requiredAddressFields } from '../../../kernel/countries.ts'
import { addressRegionFault, listRegionsOfCountry } from '../../../kernel/regions.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { countryNotFoundError } from '../errors.ts'
import type { CountryResponse } from './schema.ts'

type Deps = {
  pricing: Pick<PricingApi, 'readRules'>
  /** Absent in a shop without shipping: then no region matters for delivery. */
  shipping: Pick<ShippingApi, 'listRegions'> | undefined
}

/** Returns the fields and regions that addresses of a country need. */
export const createAddressFormatService = ({ pricing, shipping }: Deps) => ({
  /** @throws `COUNTRY_NOT_FOUND` */
  read: async (country: string): Promise<CountryResponse> => {
    if (!countryCodes.includes(country)) throw countryNotFoundError()
    const [rules, delivery] = await Promise.all([
      pricing.readRules({ codes: [], customer: null }),
      shipping?.listRegions()
    ])
    const named = regionsForTaxAndDelivery(country, rules, delivery)
    const fields = new Set(requiredAddressFields(country))
    if (named.size > 0) fields.add('region')
    return {
      country,
      required: ['name', ...fields],
      regions: listRegionsOfCountry(country).filter(
        ({ code }) => addressRegionFault(country, code, named) === undefined
      )
    }
  }
})
export type AddressFormatService = ReturnType<typeof createAddressFormatService>

type TaxZones = Pick<Awaited<ReturnType<PricingApi['readRules']>>, 'taxZones'>

/**
 * The regions of a country on which taxes or delivery depend. `delivery`: regions by country; undefined
 * without shipping.
 */
export const regionsForTaxAndDelivery = (
  country: string,
  { taxZones }: TaxZones,
  delivery: ReadonlyMap<string, ReadonlySet<string>> | undefined
): ReadonlySet<string> =>
  regionsOfAreas((taxZones.get(country) ?? []).map(({ area }) => area)).union(
    delivery?.get(country) ?? new Set()
  )
