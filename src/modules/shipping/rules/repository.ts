import { json, statement } from '../../../platform/postgres/statement.ts'
import type { Method, Rate, Zone } from '../rates/options.ts'

/** Until the transaction ends nobody else changes zones, methods or rates: of two changes one sees the other. */
export const lockRules = statement({
  name: 'shipping.lock_rules',
  text: `select pg_advisory_xact_lock(hashtextextended('shipping.rules', 0))`
})
export const areThereRules = statement({
  name: 'shipping.are_there_rules',
  gives: { are_there: 'bool' },
  text: `
    select exists (select from shipping.zones) or exists (select from shipping.methods) as are_there`
})
/** All that is asked for rates, of one moment; without methods that are out of use. */
export const readRules = statement({
  name: 'shipping.read_rules',
  gives: { zones: json<Zone[]>(), methods: json<Method[]>(), rates: json<Rate[]>() },
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
