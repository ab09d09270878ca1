import type { PromotionRow } from '../promotions/repository.ts'
import type { Effect } from '../promotions/schema.ts'
import type { Promotion, Effect as QuotedEffect, TaxZone } from '../quote/input.ts'

/** A promotion as a quote takes it. */
export const promotionOf = (row: PromotionRow): Promotion => ({
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
  firstOrderOnly: row.first_order_only,
  group: row.customer_group,
  effect: effectOf(row.effect),
  combines: row.combines as Promotion['combines'],
  usesLeft: row.uses_left,
  usesPerCustomer: row.uses_per_customer
})

function effectOf(effect: Effect): QuotedEffect {
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
/** The zones that have rates, by country. */
export function taxZonesOf(rows: readonly RateRow[]): ReadonlyMap<string, readonly TaxZone[]> {
  const zones = [...Map.groupBy(rows, row => row.zone_id)].flatMap(([id, rates]): TaxZone[] => {
    const [first] = rates
    if (first === undefined) return []
    const { country, region, postal_pattern: postalPattern } = first
    return [{ id, country, region, postalPattern, rates: rates.map(rateOf) }]
  })
  return Map.groupBy(zones, zone => zone.country)
}
const rateOf = ({ category, rate_ppm, starts_at, ends_at }: RateRow) => ({
  category,
  ppm: rate_ppm,
  startsAt: instantOf(starts_at),
  endsAt: instantOf(ends_at)
})

const instantOf = (at: Date | null): number | null => at?.getTime() ?? null
