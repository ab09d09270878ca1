import type { DeliveryArea } from '../../../kernel/areas.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import { json, type RowOf, statement } from '../../../platform/postgres/statement.ts'

const columns = {
  id: 'uuid',
  name: 'text',
  areas: json<DeliveryArea[]>(),
  version: 'int4',
  created_at: 'timestamptz'
} as const
const names = Object.keys(columns).join(', ')

/** Lists a page of zones, newest first. */
export const listShippingZones = statement({
  name: 'shipping.list_zones',
  takes: { after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `select ${names} from shipping.zones where id < $after order by id desc limit $limit`
})
export const countShippingZones = statement({
  name: 'shipping.count_zones',
  gives: { total: 'int4' },
  text: countUpTo('shipping.zones')
})
export const findShippingZoneById = statement({
  name: 'shipping.find_zone',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from shipping.zones where id = $id`
})
export const insertShippingZone = statement({
  name: 'shipping.insert_zone',
  takes: { id: 'uuid', name: 'text', areas: json<DeliveryArea[]>() },
  text: 'insert into shipping.zones (id, name, areas) values ($id, $name, $areas)'
})
export const updateShippingZone = statement({
  name: 'shipping.update_zone',
  takes: { id: 'uuid', name: 'text', areas: json<DeliveryArea[]>() },
  text: 'update shipping.zones set name = $name, areas = $areas, version = version + 1 where id = $id'
})
export const deleteShippingZone = statement({
  name: 'shipping.delete_zone',
  takes: { id: 'uuid' },
  text: 'delete from shipping.zones where id = $id'
})

export type ShippingZoneRow = RowOf<typeof findShippingZoneById>
