import type { Metadata } from '../../../kernel/metadata.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import {
  adminMetadataColumns,
  hasMetadataSql,
  metadataUpdateStatement
} from '../../../platform/postgres/metadata.ts'
import { nullableJson, type RowOf, statement } from '../../../platform/postgres/statement.ts'

const columns = {
  id: 'uuid',
  name: 'text',
  currency: 'text',
  parent_id: 'uuid?',
  adjustment_ppm: 'int4',
  version: 'int4',
  created_at: 'timestamptz',
  ...adminMetadataColumns
} as const
const names = Object.keys(columns).join(', ')
const written = {
  id: 'uuid',
  name: 'text',
  currency: 'text',
  parent_id: 'uuid?',
  adjustment_ppm: 'int4'
} as const
export const updatePriceListMetadata = metadataUpdateStatement(
  'pricing.update_price_list_metadata',
  'pricing.price_lists'
)

/** Pages through price lists, newest first. */
export const listPriceLists = statement({
  name: 'pricing.list_price_lists',
  takes: { metadata: nullableJson<Metadata>(), after: 'uuid', limit: 'int8' },
  gives: columns,
  text: `
    select ${names} from pricing.price_lists where id < $after and ${hasMetadataSql} order by id desc limit $limit`
})
export const countPriceLists = statement({
  name: 'pricing.count_price_lists',
  takes: { metadata: nullableJson<Metadata>() },
  gives: { total: 'int4' },
  text: countUpTo(`pricing.price_lists where ${hasMetadataSql}`)
})
export const findPriceList = statement({
  name: 'pricing.find_price_list',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from pricing.price_lists where id = $id`
})
export const lockPriceList = statement({
  name: 'pricing.lock_price_list',
  takes: { id: 'uuid' },
  gives: columns,
  text: `select ${names} from pricing.price_lists where id = $id for update`
})
export const insertPriceList = statement({
  name: 'pricing.insert_price_list',
  takes: written,
  text: `
    insert into pricing.price_lists (id, name, currency, parent_id, adjustment_ppm, depth)
    values ($id, $name, $currency, $parent_id, $adjustment_ppm,
      1 + coalesce((select depth from pricing.price_lists where id = $parent_id), 0))`
})
export const updatePriceList = statement({
  name: 'pricing.update_price_list',
  takes: { id: 'uuid', name: 'text', adjustment_ppm: 'int4' },
  text: `
    update pricing.price_lists set name = $name, adjustment_ppm = $adjustment_ppm, version = version + 1
    where id = $id`
})
/** Returns whether a market or another price list uses the price list. */
export const isPriceListInUse = statement({
  name: 'pricing.is_price_list_used',
  takes: { id: 'uuid' },
  gives: { is_used: 'bool' },
  text: `
    select exists (select from pricing.markets where price_list_id = $id)
      or exists (select from pricing.price_lists where parent_id = $id) as is_used`
})
export const deletePriceList = statement({
  name: 'pricing.delete_price_list',
  takes: { id: 'uuid' },
  text: 'delete from pricing.price_lists where id = $id'
})
/** Lists the parent of each price list. */
export const listParentsOfAllPriceLists = statement({
  name: 'pricing.list_parents',
  takes: { limit: 'int8' },
  gives: { id: 'uuid', parent_id: 'uuid?', adjustment_ppm: 'int4' },
  text: 'select id, parent_id, adjustment_ppm from pricing.price_lists limit $limit'
})
/** Lists the price lists of markets with their ancestors, nearest first. */
export const listMarketPriceListChains = statement({
  name: 'pricing.list_chains',
  gives: { list_id: 'uuid', currency: 'text', id: 'uuid', adjustment_ppm: 'int4' },
  text: `
    with recursive chain as (
      select id as list_id, 1 as place, id, currency, parent_id, adjustment_ppm
      from pricing.price_lists where exists (select from pricing.markets where price_list_id = price_lists.id)
      union all
      select chain.list_id, chain.place + 1, parents.id, parents.currency, parents.parent_id, parents.adjustment_ppm
      from chain join pricing.price_lists parents on parents.id = chain.parent_id
    )
    select list_id, currency, id, adjustment_ppm from chain order by list_id, place`
})

export type PriceListRow = RowOf<typeof findPriceList>
