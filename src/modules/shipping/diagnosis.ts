import { ANY_COUNTRY } from '../../kernel/areas.ts'
import { type DiagnosisCheck, okDiagnosisFinding, warningDiagnosisFinding } from '../../kernel/diagnosis.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import type { PricingApi } from '../pricing/index.ts'
import { listPaidProviderServices } from './provider-rates/repository.ts'
import type { ShippingMethod, ShippingRate } from './rules/options.ts'
import { selectAllShippingRules } from './rules/repository.ts'

type TaxZones = Awaited<ReturnType<PricingApi['readRules']>>['taxZones']
type TaxedMarket = { readonly code: string; readonly countries: readonly string[] }
type Deps = { db: Queryable; pricing: PricingApi | undefined }

/** Finds shipping methods and services of providers that cost something and are not taxed where the goods are. */
export const diagnoseShippingTax = ({ db, pricing }: Deps): readonly DiagnosisCheck[] => [
  {
    about: 'tax on shipping',
    async find() {
      if (pricing === undefined) return okDiagnosisFinding('the module pricing is disabled')
      const [stored, services, markets, { taxZones }] = await Promise.all([
        db.first(selectAllShippingRules),
        db.rows(listPaidProviderServices),
        pricing.markets.list(),
        pricing.readRules({ codes: [], customer: null })
      ])
      const { methods = [], rates = [] } = stored ?? {}
      const untaxed = untaxedMethods({ methods, rates, services, markets, taxZones, now: Date.now() })
      if (untaxed.length === 0)
        return okDiagnosisFinding('every paid shipping method is taxed where goods are taxed')
      return warningDiagnosisFinding(
        untaxed.map(({ service, markets }) => `${service} is not taxed in ${markets.join(', ')}`).join('; '),
        'Set tax_category of the shipping method to null (standard) or to a category that has a tax rate there. A service of a provider gets its category from the module of the provider.'
      )
    }
  }
]

type Shop = {
  readonly methods: readonly Pick<ShippingMethod, 'id' | 'service' | 'taxCategory'>[]
  readonly rates: readonly Pick<ShippingRate, 'methodId' | 'price'>[]
  /** Paid services of providers. */
  readonly services: readonly { readonly service: string; readonly tax_category: string | null }[]
  readonly markets: readonly TaxedMarket[]
  readonly taxZones: TaxZones
  readonly now: number
}

/** Methods and services with a price whose tax category has no rate in a country that is taxed, with the markets of that country. */
function untaxedMethods({ methods, rates, services, markets, taxZones, now }: Shop) {
  const priced = new Set(rates.filter(({ price }) => price !== 0).map(({ methodId }) => methodId))
  const taxedMarkets = markets.flatMap(({ code, countries }) => {
    const sold = countries.length > 0 ? countries : [...taxZones.keys()]
    const categories = sold
      .map(country => taxedCategories(country, taxZones, now))
      .filter(({ size }) => size > 0)
    return categories.length === 0 ? [] : [{ code, categories }]
  })
  const paid = [
    ...methods.filter(({ id }) => priced.has(id)),
    ...services.map(({ service, tax_category: taxCategory }) => ({ service, taxCategory }))
  ]
  return paid
    .map(({ service, taxCategory }) => ({
      service,
      markets: taxedMarkets
        .filter(({ categories }) => categories.some(taxed => !taxed.has(taxCategory ?? 'standard')))
        .map(({ code }) => code)
    }))
    .filter(({ markets }) => markets.length > 0)
}

/** The tax categories that have a rate in a country now. Empty where every rate is zero. */
function taxedCategories(country: string, taxZones: TaxZones, now: number): ReadonlySet<string> {
  const current = [country, ANY_COUNTRY]
    .flatMap(place => taxZones.get(place) ?? [])
    .flatMap(({ rates }) => rates)
    .filter(({ startsAt, endsAt }) => (startsAt ?? now) <= now && now < (endsAt ?? now + 1))
  return new Set(current.some(({ ppm }) => ppm > 0) ? current.map(({ category }) => category) : [])
}
