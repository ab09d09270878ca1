import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { Kind } from '../rates/options.ts'

const columns = {
  id: 'uuid',
  kind: oneOf<Kind>(),
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

/** In the order in which those that cost the same are offered; those behind a place. */
export const listMethods = statement({
  name: 'shipping.list_methods',
  takes: { position: 'int8', id: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select ${names} from shipping.methods
    where (position, id) > ($position::int8, $id) order by position, id limit $limit`
})
export const countMethods = statement({
  name: 'shipping.count_methods',
  gives: { total: 'int4' },
  text: countUpTo('shipping.methods')
})
export const findMethod = statement({
  name: 'shipping.find_method',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from shipping.methods where id = $id`
})
/** `position`: null for behind all others. */
export const insertMethod = statement({
  name: 'shipping.insert_method',
  takes: { ...written, position: 'int4?' },
  text: `
    insert into shipping.methods (
      id, kind, provider, service, days_min, days_max, tax_category, active, position)
    values (
      $id, $kind, $provider, $service, $days_min, $days_max, $tax_category, $active,
      coalesce($position, (select least(coalesce(max(position), 0) + 1, 1000000) from shipping.methods)))`
})
/** The kind stays: rates are made for it. */
export const updateMethod = statement({
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
export const deleteMethod = statement({
  name: 'shipping.delete_method',
  takes: { id: 'uuid' },
  text: 'delete from shipping.methods where id = $id'
})

export type MethodRow = RowOf<typeof findMethod>
