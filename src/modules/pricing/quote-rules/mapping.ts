import { createAreaMatcher, normalizeDeliveryArea } from '../../../kernel/areas.ts'
import type { RowOf } from '../../../platform/postgres/statement.ts'
import type { PromotionRow } from '../promotions/repository.ts'
import type { PromotionEffectRequest } from '../promotions/schema.ts'
import type {
  Promotion,
  PromotionEffect as QuotedEffect,
  QuoteTaxExemption,
  TaxZone
} from '../quote/input.ts'
import type { listAllUnexpiredTaxExemptions } from '../taxes/exemption-repository.ts'

/** Maps a row to a promotion of a quote. */
export const promotionFromRow = (row: PromotionRow): Promotion => ({
  id: row.id,
  name: row.name,
  class: row.class,
  priority: row.priority,
  startsAt: instantOf(row.starts_at),
  endsAt: instantOf(row.ends_at),
  markets: row.markets.length === 0 ? null : row.markets,
  needsCode: row.needs_code,
  minimumMinor: row.minimum,
  minimumQuantity: row.minimum_quantity,
  productIds: row.product_ids === null ? null : new Set(row.product_ids),
  categoryIds: row.category_ids === null ? null : new Set(row.category_ids),
  shippingMethodIds: row.shipping_method_ids === null ? null : new Set(row.shipping_method_ids),
  cheapestOnly: row.cheapest_only,
  firstOrderOnly: row.first_order_only,
  group: row.customer_group,
  effect: effectOf(row.effect),
  combines: row.combines as Promotion['combines'],
  usesLeft: row.uses_left,
  usesPerCustomer: row.uses_per_customer
})

function effectOf(effect: PromotionEffectRequest): QuotedEffect {
  if (effect.type === 'percentage') return { type: effect.type, ppm: effect.percentage_ppm }
  return effect.type === 'free_shipping' ? effect : { type: effect.type, minor: effect.amounts }
}

type RateRow = {
  readonly zone_id: string
  readonly country: string
  readonly region: string | null
  readonly postal_pattern: string | null
  readonly category: string
  readonly rate_ppm: number
  readonly starts_at: Date | null
  readonly ends_at: Date | null
}
/** Groups rows of tax rates into tax zones, by country. */
export function taxZonesByCountry(rows: readonly RateRow[]): ReadonlyMap<string, readonly TaxZone[]> {
  const ratesOfZones = [...Map.groupBy(rows, row => row.zone_id).values()]
  const byCountry = Map.groupBy(ratesOfZones, ([first]) => first?.country ?? '')
  return new Map([...byCountry].map(([country, zones]) => [country, zones.flatMap(zoneOf)]))
}
function zoneOf(rates: readonly RateRow[]): TaxZone[] {
  const [first] = rates
  if (first === undefined) return []
  const { zone_id: id, country, region, postal_pattern: postalCode } = first
  const area = normalizeDeliveryArea({ country, region, postalCode })
  return area === undefined ? [] : [{ id, area, reachFor: createAreaMatcher(area), rates: rates.map(rateOf) }]
}
const rateOf = ({ category, rate_ppm, starts_at, ends_at }: RateRow) => ({
  category,
  ppm: rate_ppm,
  startsAt: instantOf(starts_at),
  endsAt: instantOf(ends_at)
})

type ExemptionRow = RowOf<typeof listAllUnexpiredTaxExemptions>
/** Groups rows of tax exemptions by customer. */
export const groupTaxExemptionsByCustomer = (
  rows: readonly ExemptionRow[]
): ReadonlyMap<string, readonly QuoteTaxExemption[]> =>
  new Map(
    [...Map.groupBy(rows, row => row.customer_id)].map(([customer, own]) => [customer, own.map(exemptionOf)])
  )
const exemptionOf = ({ id, company, vat_id, reason, countries, starts_at, ends_at }: ExemptionRow) => ({
  id,
  company,
  vatId: vat_id,
  reason,
  countries,
  startsAt: instantOf(starts_at),
  endsAt: instantOf(ends_at)
})

const instantOf = (at: Date | null): number | null => at?.getTime() ?? null
