import type { Queryable } from '../../../platform/postgres/database.ts'
import { json, statement } from '../../../platform/postgres/statement.ts'
import {
  indexShippingRules,
  type ShippingMethod,
  type ShippingRate,
  type ShippingRules,
  type ShippingZone
} from './options.ts'

/** Locks zones, methods and rates until the transaction ends, so that concurrent changes are validated against each other. */
export const lockShippingRules = statement({
  name: 'shipping.lock_rules',
  text: `select pg_advisory_xact_lock(hashtextextended('shipping.rules', 0))`
})
export const hasShippingRules = statement({
  name: 'shipping.has_rules',
  gives: { are_there: 'bool' },
  text: `
    select exists (select from shipping.zones) or exists (select from shipping.methods) as are_there`
})
/** Reads zones, active methods and rates in one snapshot. */
export const selectAllShippingRules = statement({
  name: 'shipping.read_rules',
  gives: { zones: json<ShippingZone[]>(), methods: json<ShippingMethod[]>(), rates: json<ShippingRate[]>() },
  text: `
    select
      (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'areas', areas)), '[]') from shipping.zones) as zones,
      (select coalesce(jsonb_agg(jsonb_build_object(
        'id', id, 'kind', kind, 'provider', provider, 'service', service, 'taxCategory', tax_category, 'position', position,
        'estimatedDays', case when days_min is not null then jsonb_build_object('min', days_min, 'max', days_max) end
      )), '[]') from shipping.methods where active) as methods,
      (select coalesce(jsonb_agg(jsonb_build_object(
        'methodId', method_id, 'zoneId', zone_id, 'currency', currency, 'freeFromMinor', free_from_minor,
        'price', coalesce(to_jsonb(amount_minor), price_table)
      )), '[]') from shipping.rates) as rates`
})

/** Loads the shipping rules in one snapshot. */
export async function readShippingRules(db: Queryable): Promise<ShippingRules> {
  const { zones = [], methods = [], rates = [] } = (await db.first(selectAllShippingRules)) ?? {}
  return indexShippingRules(zones, methods, rates)
}
