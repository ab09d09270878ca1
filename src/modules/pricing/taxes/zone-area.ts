import { deliveryAreaFault, normalizeDeliveryArea } from '../../../kernel/areas.ts'

type ZonePlace = {
  readonly country: string
  readonly region: string | null
  readonly postal_pattern: string | null
}

/**
 * Returns the place of a tax zone in its stored form, so that each place has one zone, or the error of an
 * invalid place.
 */
export function normalizeTaxZonePlace({
  country,
  region,
  postal_pattern
}: ZonePlace): ZonePlace | { fault: ZoneFault } {
  const given = { country, region, postalCode: postal_pattern }
  const area = normalizeDeliveryArea(given)
  if (area !== undefined) return { country, region: area.region, postal_pattern: area.postalCode }
  const { part, message } = deliveryAreaFault(given)
  return { fault: { field: part === 'region' ? part : 'postal_pattern', message } }
}
type ZoneFault = { readonly field: 'region' | 'postal_pattern'; readonly message: string }
