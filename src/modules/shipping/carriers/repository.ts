import { countUpTo } from '../../../platform/postgres/counting.ts'
import { json, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { TrackingNumberFormat } from './tracking-numbers.ts'

const columns = {
  id: 'uuid',
  code: 'text',
  name: 'text',
  tracking_url: 'text?',
  number_rules: json<TrackingNumberFormat[]>(),
  version: 'int4',
  created_at: 'timestamptz'
} as const
const names = Object.keys(columns).join(', ')

/** Lists a page of carriers by code. */
export const listCarriers = statement({
  name: 'shipping.list_carriers',
  takes: { code: 'text', id: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select ${names} from shipping.carriers
    where (code collate "C", id) > ($code, $id) order by code collate "C", id limit $limit`
})
export const countCarriers = statement({
  name: 'shipping.count_carriers',
  gives: { total: 'int4' },
  text: countUpTo('shipping.carriers')
})
export const findCarrierById = statement({
  name: 'shipping.find_carrier',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from shipping.carriers where id = $id`
})
export const listAllCarriers = statement({
  name: 'shipping.list_all_carriers',
  gives: columns,
  text: `select ${names} from shipping.carriers`
})
const written = {
  id: 'uuid',
  name: 'text',
  tracking_url: 'text?',
  number_rules: json<readonly TrackingNumberFormat[]>()
} as const
export const insertCarrier = statement({
  name: 'shipping.insert_carrier',
  takes: { ...written, code: 'text' },
  text: `
    insert into shipping.carriers (id, code, name, tracking_url, number_rules)
    values ($id, $code, $name, $tracking_url, $number_rules)`
})
export const updateCarrier = statement({
  name: 'shipping.update_carrier',
  takes: written,
  text: `
    update shipping.carriers
    set name = $name, tracking_url = $tracking_url, number_rules = $number_rules, version = version + 1
    where id = $id`
})
export const deleteCarrier = statement({
  name: 'shipping.delete_carrier',
  takes: { id: 'uuid' },
  text: 'delete from shipping.carriers where id = $id'
})
export type CarrierRow = RowOf<typeof findCarrierById>
