import { regionsNamed } from '../../../kernel/areas.ts'
import type { PricingApi } from '../../pricing/index.ts'

type TaxZones = Pick<Awaited<ReturnType<PricingApi['rules']>>, 'taxZones'>

/** The regions of a country on which taxes or delivery depend. `delivery`: undefined where nobody knows what it costs. */
export const regionsThatMatter = (
  country: string,
  { taxZones }: TaxZones,
  delivery: ReadonlyMap<string, ReadonlySet<string>> | undefined
): ReadonlySet<string> =>
  regionsNamed((taxZones.get(country) ?? []).map(({ area }) => area)).union(
    delivery?.get(country) ?? new Set()
  )
