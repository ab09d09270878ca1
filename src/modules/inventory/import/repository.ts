import { statement } from '../../../platform/postgres/statement.ts'

/** All of them: there are a hundred at most. */
export const listPlaces = statement({
  name: 'inventory.list_places',
  gives: { id: 'uuid', code: 'text', name: 'text', active: 'bool' },
  text: 'select id, code, name, active from inventory.locations order by priority, id'
})
export const listIdsOfSkus = statement({
  name: 'inventory.list_ids_of_skus',
  takes: { skus: 'text[]' },
  gives: { sku: 'text?', id: 'uuid' },
  text: 'select sku, id from inventory.items where sku = any ($skus)'
})
