import { countUpTo } from '../../../platform/postgres/counting.ts'
import { nullableJson, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { ShippingMethodKind, ShippingPriceTable } from '../rules/options.ts'
import { SHIPPING_RATES_PER_SHOP_MAX } from './schema.ts'

const columns = {
  id: 'uuid',
  method_id: 'uuid',
  zone_id: 'uuid?',
  currency: 'text',
  amount_minor: 'int8?',
  price_table: nullableJson<ShippingPriceTable>(),
  free_from_minor: 'int8?',
  version: 'int4',
  created_at: 'timestamptz'
} as const
const names = Object.keys(columns).join(', ')
const { version: _, created_at: _at, ...written } = columns
const filters = { method: 'uuid?', zone: 'uuid?', currency: 'text?' } as const
const passes = `
  ($method::uuid is null or method_id = $method) and ($zone::uuid is null or zone_id = $zone)
  and ($currency::text is null or currency = $currency)`

/** Lists a page of rates, newest first. A null filter matches all. */
export const listShippingRates = statement({
  name: 'shipping.list_rates',
  takes: { ...filters, after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select ${names} from shipping.rates
    where id < $after and ${passes}
    order by id desc limit $limit`
})
export const countShippingRates = statement({
  name: 'shipping.count_rates',
  takes: filters,
  gives: { total: 'int4' },
  text: countUpTo(`shipping.rates where ${passes}`, SHIPPING_RATES_PER_SHOP_MAX)
})
export const findShippingRate = statement({
  name: 'shipping.find_rate',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from shipping.rates where id = $id`
})
/** Inserts a shipping rate. `kind`: the kind of its shipping method. */
export const insertShippingRate = statement({
  name: 'shipping.insert_rate',
  takes: { ...written, kind: oneOf<ShippingMethodKind>() },
  text: `
    insert into shipping.rates (
      id, method_id, kind, zone_id, currency, amount_minor, price_table, free_from_minor)
    values ($id, $method_id, $kind, $zone_id, $currency, $amount_minor, $price_table, $free_from_minor)`
})
/** Updates a shipping rate. Method, zone and currency cannot change. */
export const updateShippingRate = statement({
  name: 'shipping.update_rate',
  takes: {
    id: 'uuid',
    amount_minor: 'int8?',
    price_table: nullableJson<ShippingPriceTable>(),
    free_from_minor: 'int8?'
  },
  text: `
    update shipping.rates set
      amount_minor = $amount_minor, price_table = $price_table, free_from_minor = $free_from_minor,
      version = version + 1
    where id = $id`
})
export const deleteShippingRate = statement({
  name: 'shipping.delete_rate',
  takes: { id: 'uuid' },
  text: 'delete from shipping.rates where id = $id'
})

export type ShippingRateRow = RowOf<typeof findShippingRate>
