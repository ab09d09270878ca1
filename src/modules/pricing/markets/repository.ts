import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { TaxRounding } from '../quote/input.ts'

const stored = {
  id: 'uuid',
  code: 'text',
  name: 'text',
  is_default: 'bool',
  currency: 'text',
  prices_include_tax: 'bool',
  tax_rounding: oneOf<TaxRounding>(),
  cash_rounding: 'int4',
  locale: 'text',
  price_list_id: 'uuid?',
  active: 'bool',
  exclusive: 'bool',
  version: 'int4',
  created_at: 'timestamptz'
} as const
const columns = { ...stored, countries: 'text[]' } as const
const select = `
  select ${Object.keys(stored).join(', ')},
    array(select country from pricing.market_countries where market_id = markets.id order by position) as countries
  from pricing.markets`
const { version: _, created_at: _at, is_default: _default, code, ...changed } = stored

/** Pages through markets by code. */
export const listMarkets = statement({
  name: 'pricing.list_markets',
  takes: { code: 'text', id: 'uuid', limit: 'int8' },
  gives: columns,
  text: `${select} where (code, id) > ($code, $id) order by code, id limit $limit`
})
export const countMarkets = statement({
  name: 'pricing.count_markets',
  gives: { total: 'int4' },
  text: countUpTo('pricing.markets')
})
export const findMarket = statement({
  name: 'pricing.find_market',
  takes: { id: 'uuid' },
  gives: columns,
  text: `${select} where id = $id`
})
export const findMarketIdByCode = statement({
  name: 'pricing.find_market_id',
  takes: { code: 'text' },
  gives: { id: 'uuid' },
  text: 'select id from pricing.markets where code = $code'
})
export const lockMarket = statement({
  name: 'pricing.lock_market',
  takes: { id: 'uuid' },
  gives: columns,
  text: `${select} where id = $id for update`
})
export const findDefaultMarket = statement({
  name: 'pricing.find_default_market',
  gives: columns,
  text: `${select} where is_default`
})
/** Serializes the creation of markets. */
export const lockDefaultMarket = statement({
  name: 'pricing.lock_default_market',
  gives: { id: 'uuid' },
  text: 'select id from pricing.markets where is_default for no key update'
})
/**
 * Creates the default market. Of two simultaneous first starts the later one finds it by code or default
 * flag.
 */
export const insertDefaultMarket = statement({
  name: 'pricing.insert_default_market',
  takes: { id: 'uuid', currency: 'text' },
  text: `
    insert into pricing.markets (
      id, code, name, is_default, currency, prices_include_tax, tax_rounding, cash_rounding, locale, active)
    values ($id, 'default', 'Default', true, $currency, false, 'group', 1, 'en', true)
    on conflict do nothing`
})
export const setDefaultMarketCurrency = statement({
  name: 'pricing.set_default_currency',
  takes: { currency: 'text' },
  text: `
    update pricing.markets set currency = $currency, price_list_id = null, version = version + 1
    where is_default and currency <> $currency`
})
export const insertMarket = statement({
  name: 'pricing.insert_market',
  takes: { ...changed, code },
  text: `
    insert into pricing.markets (
      id, code, name, currency, prices_include_tax, tax_rounding, cash_rounding, locale, price_list_id, active, exclusive)
    values (
      $id, $code, $name, $currency, $prices_include_tax, $tax_rounding, $cash_rounding, $locale, $price_list_id,
      $active, $exclusive)`
})
export const updateMarket = statement({
  name: 'pricing.update_market',
  takes: changed,
  text: `
    update pricing.markets set
      name = $name, currency = $currency, prices_include_tax = $prices_include_tax, tax_rounding = $tax_rounding,
      cash_rounding = $cash_rounding, locale = $locale, price_list_id = $price_list_id, active = $active, exclusive = $exclusive, version = version + 1
    where id = $id`
})
/** Returns whether a promotion names the market. */
export const isMarketUsedByPromotion = statement({
  name: 'pricing.is_market_used',
  takes: { code: 'text' },
  gives: { is_used: 'bool' },
  text: 'select exists (select from pricing.promotion_markets where market = $code) as is_used'
})
export const deleteMarket = statement({
  name: 'pricing.delete_market',
  takes: { id: 'uuid' },
  text: 'delete from pricing.markets where id = $id'
})
export const deleteMarketCountries = statement({
  name: 'pricing.remove_market_countries',
  takes: { id: 'uuid' },
  text: 'delete from pricing.market_countries where market_id = $id'
})
export const insertMarketCountries = statement({
  name: 'pricing.add_market_countries',
  takes: { id: 'uuid', countries: 'text[]' },
  text: `
    insert into pricing.market_countries (country, market_id, position)
    select country, $id, position from unnest($countries::text[]) with ordinality as wanted (country, position)
    order by country`
})

export type MarketRow = RowOf<typeof findMarket>
