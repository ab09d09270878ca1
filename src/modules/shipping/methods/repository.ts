import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { ShippingMethodKind } from '../rules/options.ts'

const columns = {
  id: 'uuid',
  kind: oneOf<ShippingMethodKind>(),
  provider: 'text?',
  service: 'text',
  days_min: 'int4?',
  days_max: 'int4?',
  tax_category: 'text?',
  active: 'bool',
  position: 'int4',
  version: 'int4',
  created_at: 'timestamptz'
} as const
const names = Object.keys(columns).join(', ')
const { version: _, created_at: _at, ...written } = columns

/** Lists a page of methods in the order in which options of equal price are offered. */
export const listShippingMethods = statement({
  name: 'shipping.list_methods',
  takes: { position: 'int8', id: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select ${names} from shipping.methods
    where (position, id) > ($position::int8, $id) order by position, id limit $limit`
})
export const countShippingMethods = statement({
  name: 'shipping.count_methods',
  gives: { total: 'int4' },
  text: countUpTo('shipping.methods')
})
export const findShippingMethod = statement({
  name: 'shipping.find_method',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from shipping.methods where id = $id`
})
/** Inserts a shipping method. `position` null: after all others. */
export const insertShippingMethod = statement({
  name: 'shipping.insert_method',
  takes: { ...written, position: 'int4?' },
  text: `
    insert into shipping.methods (
      id, kind, provider, service, days_min, days_max, tax_category, active, position)
    values (
      $id, $kind, $provider, $service, $days_min, $days_max, $tax_category, $active,
      coalesce($position, (select least(coalesce(max(position), 0) + 1, 1000000) from shipping.methods)))`
})
/** Updates a shipping method. The kind cannot change, because rates depend on it. */
export const updateShippingMethod = statement({
  name: 'shipping.update_method',
  takes: {
    id: 'uuid',
    provider: 'text?',
    service: 'text',
    days_min: 'int4?',
    days_max: 'int4?',
    tax_category: 'text?',
    active: 'bool',
    position: 'int4'
  },
  text: `
    update shipping.methods set
      provider = $provider, service = $service, days_min = $days_min, days_max = $days_max,
      tax_category = $tax_category, active = $active, position = $position, version = version + 1
    where id = $id`
})
export const deleteShippingMethod = statement({
  name: 'shipping.delete_method',
  takes: { id: 'uuid' },
  text: 'delete from shipping.methods where id = $id'
})

/** Lists the zones of these methods' rates with their currencies. `countries`: those that the zone has areas in. */
export const listRatedZonesOfShippingMethods = statement({
  name: 'shipping.list_rated_zones',
  takes: { methods: 'uuid[]' },
  gives: { method_id: 'uuid', zone_id: 'uuid?', currencies: 'text[]', countries: 'text[]' },
  text: `
    select method_id, zone_id, array_agg(currency) as currencies, array(
      select distinct area ->> 'country' from shipping.zones, jsonb_array_elements(areas) as area where zones.id = zone_id
    ) as countries
    from shipping.rates where method_id = any ($methods)
    group by method_id, zone_id order by method_id, zone_id`
})

export type ShippingMethodRow = RowOf<typeof findShippingMethod>
