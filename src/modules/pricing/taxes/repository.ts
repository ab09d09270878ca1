import { countUpTo } from '../../../platform/postgres/counting.ts'
import { statement } from '../../../platform/postgres/statement.ts'
import { TAX_RATES_MAX, TAX_ZONES_MAX } from './schema.ts'

const made = { version: 'int4', created_at: 'timestamptz' } as const
const page = { after: 'uuid', limit: 'int8' } as const
const total = { total: 'int4' } as const

const category = { id: 'uuid', code: 'text', name: 'text' } as const
const categoryNames = 'id, code, name, version, created_at'
/** Pages through tax categories, newest first, like the lists of zones and rates. */
export const listTaxCategories = statement({
  name: 'pricing.list_tax_categories',
  takes: page,
  gives: { ...category, ...made },
  text: `select ${categoryNames} from pricing.tax_categories where id < $after order by id desc limit $limit`
})
export const countTaxCategories = statement({
  name: 'pricing.count_tax_categories',
  gives: total,
  text: countUpTo('pricing.tax_categories')
})
export const findTaxCategory = statement({
  name: 'pricing.find_tax_category',
  takes: { id: 'uuid' },
  gives: { ...category, ...made },
  text: `select ${categoryNames} from pricing.tax_categories where id = $id`
})
export const lockTaxCategory = statement({
  name: 'pricing.lock_tax_category',
  takes: { id: 'uuid' },
  gives: { ...category, ...made },
  text: `select ${categoryNames} from pricing.tax_categories where id = $id for update`
})
export const insertTaxCategory = statement({
  name: 'pricing.insert_tax_category',
  takes: category,
  text: 'insert into pricing.tax_categories (id, code, name) values ($id, $code, $name)'
})
export const updateTaxCategory = statement({
  name: 'pricing.update_tax_category',
  takes: { id: 'uuid', name: 'text' },
  text: 'update pricing.tax_categories set name = $name, version = version + 1 where id = $id'
})
export const isTaxCategoryUsedByRates = statement({
  name: 'pricing.is_tax_category_used',
  takes: { code: 'text' },
  gives: { is_used: 'bool' },
  text: 'select exists (select from pricing.tax_rates where category = $code) as is_used'
})
export const deleteTaxCategory = statement({
  name: 'pricing.delete_tax_category',
  takes: { id: 'uuid' },
  text: 'delete from pricing.tax_categories where id = $id'
})

const place = { country: 'text', region: 'text?', postal_pattern: 'text?' } as const
const placeNames = Object.keys(place).join(', ')
const zone = { id: 'uuid', name: 'text', ...place } as const
const zoneNames = `id, name, ${placeNames}, version, created_at`
export const listTaxZones = statement({
  name: 'pricing.list_tax_zones',
  takes: page,
  gives: { ...zone, ...made },
  text: `select ${zoneNames} from pricing.tax_zones where id < $after order by id desc limit $limit`
})
export const countTaxZones = statement({
  name: 'pricing.count_tax_zones',
  gives: total,
  text: countUpTo('pricing.tax_zones', TAX_ZONES_MAX)
})
export const findTaxZone = statement({
  name: 'pricing.find_tax_zone',
  takes: { id: 'uuid' },
  gives: { ...zone, ...made },
  text: `select ${zoneNames} from pricing.tax_zones where id = $id`
})
export const lockTaxZone = statement({
  name: 'pricing.lock_tax_zone',
  takes: { id: 'uuid' },
  gives: { ...zone, ...made },
  text: `select ${zoneNames} from pricing.tax_zones where id = $id for update`
})
export const insertTaxZone = statement({
  name: 'pricing.insert_tax_zone',
  takes: zone,
  text: `
    insert into pricing.tax_zones (id, name, country, region, postal_pattern)
    values ($id, $name, $country, $region, $postal_pattern)`
})
export const updateTaxZone = statement({
  name: 'pricing.update_tax_zone',
  takes: zone,
  text: `
    update pricing.tax_zones set
      name = $name, country = $country, region = $region, postal_pattern = $postal_pattern, version = version + 1
    where id = $id`
})
export const isTaxZoneUsedByRates = statement({
  name: 'pricing.is_tax_zone_used',
  takes: { id: 'uuid' },
  gives: { is_used: 'bool' },
  text: 'select exists (select from pricing.tax_rates where zone_id = $id) as is_used'
})
export const deleteTaxZone = statement({
  name: 'pricing.delete_tax_zone',
  takes: { id: 'uuid' },
  text: 'delete from pricing.tax_zones where id = $id'
})

const effect = { rate_ppm: 'int4', starts_at: 'timestamptz?', ends_at: 'timestamptz?' } as const
const effectNames = Object.keys(effect).join(', ')
const rate = { id: 'uuid', zone_id: 'uuid', category: 'text', name: 'text', ...effect } as const
const rateNames = `${Object.keys(rate).join(', ')}, version, created_at`
/** Pages through tax rates, newest first. `zone_id` null: rates of all zones. */
export const listTaxRates = statement({
  name: 'pricing.list_tax_rates',
  takes: { ...page, zone_id: 'uuid?' },
  gives: { ...rate, ...made },
  text: `
    select ${rateNames} from pricing.tax_rates where id < $after and ($zone_id::uuid is null or zone_id = $zone_id)
    order by id desc limit $limit`
})
export const countTaxRates = statement({
  name: 'pricing.count_tax_rates',
  takes: { zone_id: 'uuid?' },
  gives: total,
  text: countUpTo('pricing.tax_rates where $zone_id::uuid is null or zone_id = $zone_id', TAX_RATES_MAX)
})
export const findTaxRate = statement({
  name: 'pricing.find_tax_rate',
  takes: { id: 'uuid' },
  gives: { ...rate, ...made },
  text: `select ${rateNames} from pricing.tax_rates where id = $id`
})
export const lockTaxRate = statement({
  name: 'pricing.lock_tax_rate',
  takes: { id: 'uuid' },
  gives: { ...rate, ...made },
  text: `select ${rateNames} from pricing.tax_rates where id = $id for update`
})
export const insertTaxRate = statement({
  name: 'pricing.insert_tax_rate',
  takes: rate,
  text: `
    insert into pricing.tax_rates (id, zone_id, category, name, rate_ppm, starts_at, ends_at)
    values ($id, $zone_id, $category, $name, $rate_ppm, $starts_at, $ends_at)`
})
export const updateTaxRate = statement({
  name: 'pricing.update_tax_rate',
  takes: { id: 'uuid', name: 'text', ...effect },
  text: `
    update pricing.tax_rates set
      name = $name, rate_ppm = $rate_ppm, starts_at = $starts_at, ends_at = $ends_at, version = version + 1
    where id = $id`
})
export const deleteTaxRate = statement({
  name: 'pricing.delete_tax_rate',
  takes: { id: 'uuid' },
  text: 'delete from pricing.tax_rates where id = $id'
})
/** Lists tax rates that have not ended, with the place of their zone. */
export const listUnexpiredTaxRates = statement({
  name: 'pricing.list_holding_tax_rates',
  takes: { limit: 'int8' },
  gives: { zone_id: 'uuid', ...place, category: 'text', ...effect },
  text: `
    select zone_id, ${placeNames}, category, ${effectNames}
    from pricing.tax_rates join pricing.tax_zones on tax_zones.id = zone_id
    where ends_at is null or ends_at > now() limit $limit`
})
/** Lists a page of tax rates with their zones for the export, newest first. */
export const listTaxRateExportRows = statement({
  name: 'pricing.list_exported_tax_rates',
  takes: page,
  gives: { id: 'uuid', ...place, category: 'text', name: 'text', ...effect },
  text: `
    select tax_rates.id, ${placeNames}, category, tax_rates.name, ${effectNames}
    from pricing.tax_rates join pricing.tax_zones on tax_zones.id = zone_id
    where tax_rates.id < $after order by tax_rates.id desc limit $limit`
})

/** Places of tax zones in a file. '': no region or no postal pattern. */
const places = { countries: 'text[]', regions: 'text[]', postal_patterns: 'text[]' } as const
export const insertMissingTaxZonesOfFile = statement({
  name: 'pricing.add_tax_places',
  takes: places,
  text: `
    insert into pricing.tax_zones (id, name, country, region, postal_pattern)
    select gen_random_uuid(), concat_ws(' ', country, nullif(region, ''), nullif(postal_pattern, '')),
      country, nullif(region, ''), nullif(postal_pattern, '')
    from (
      select distinct country, region, postal_pattern
      from unnest($countries::text[], $regions::text[], $postal_patterns::text[]) as said (country, region, postal_pattern)
    ) as wanted
    order by country, region, postal_pattern
    on conflict (country, region, postal_pattern) do nothing`
})
const rates = {
  ...places,
  categories: 'text[]',
  rates: 'int4[]',
  names: 'text[]',
  starts: 'float8[]',
  ends: 'float8[]'
} as const
/** SQL for the tax rates of a file, with the zones of their places. */
const given = `
  select tax_zones.id as zone_id, said.category, said.rate_ppm, said.name,
    to_timestamp(said.starts) as starts_at, to_timestamp(said.ends) as ends_at
  from unnest($countries::text[], $regions::text[], $postal_patterns::text[], $categories::text[], $rates::int[],
    $names::text[], $starts::float8[], $ends::float8[])
    as said (country, region, postal_pattern, category, rate_ppm, name, starts, ends)
  join pricing.tax_zones on tax_zones.country = said.country
    and tax_zones.region is not distinct from nullif(said.region, '')
    and tax_zones.postal_pattern is not distinct from nullif(said.postal_pattern, '')`
/** Updates stored tax rates from rows of a file with the same zone, category and start. */
export const updateImportedTaxRates = statement({
  name: 'pricing.change_tax_rates',
  takes: rates,
  text: `
    update pricing.tax_rates
    set name = given.name, rate_ppm = given.rate_ppm, ends_at = given.ends_at, version = version + 1
    from (${given}) as given
    where tax_rates.zone_id = given.zone_id and tax_rates.category = given.category
      and tax_rates.starts_at is not distinct from given.starts_at
      and (tax_rates.name, tax_rates.rate_ppm, tax_rates.ends_at)
        is distinct from (given.name, given.rate_ppm, given.ends_at)`
})
/** Inserts tax rates of a file that are not stored yet. */
export const insertImportedTaxRates = statement({
  name: 'pricing.add_tax_rates',
  takes: rates,
  text: `
    insert into pricing.tax_rates (id, zone_id, category, name, rate_ppm, starts_at, ends_at)
    select gen_random_uuid(), zone_id, category, name, rate_ppm, starts_at, ends_at from (${given}) as given
    where not exists (
      select from pricing.tax_rates present
      where present.zone_id = given.zone_id and present.category = given.category
        and present.starts_at is not distinct from given.starts_at)`
})
