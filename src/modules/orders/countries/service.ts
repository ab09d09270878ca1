import { countries, requiredFieldsOf } from '../../../kernel/countries.ts'
import { listRegions, regionFault } from '../../../kernel/regions.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { countryNotFound } from '../errors.ts'
import { regionsThatMatter } from './rule.ts'
import type { CountryResponse } from './schema.ts'

type Deps = {
  pricing: Pick<PricingApi, 'rules'>
  /** Absent: nobody knows what delivery costs. */
  shipping: Pick<ShippingApi, 'regions'> | undefined
}

/** What a form for addresses asks for, by country. */
export const createCountryService = ({ pricing, shipping }: Deps) => ({
  /** @throws `COUNTRY_NOT_FOUND` */
  read: async (country: string): Promise<CountryResponse> => {
    if (!countries.includes(country)) throw countryNotFound()
    const [rules, delivery] = await Promise.all([
      pricing.rules({ codes: [], customer: null }),
      shipping?.regions()
    ])
    const named = regionsThatMatter(country, rules, delivery)
    const fields = new Set(requiredFieldsOf(country))
    if (named.size > 0) fields.add('region')
    return {
      country,
      required: ['name', ...fields],
      regions: listRegions(country).filter(({ code }) => regionFault(country, code, named) === undefined)
    }
  }
})
export type CountryService = ReturnType<typeof createCountryService>
