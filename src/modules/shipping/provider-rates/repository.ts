import { json, statement } from '../../../platform/postgres/statement.ts'
import type { ProviderRate } from './port.ts'

const rates = json<readonly ProviderRate[]>()

/** Finds the rates of a parcel that have not expired, by provider. */
export const findProviderRates = statement({
  name: 'shipping.find_provider_rates',
  takes: { parcel: 'bytea' },
  gives: { provider: 'text', rates },
  text: `
    select provider, rates from shipping.provider_rates
    where parcel = $parcel and expires_at > now()`
})
/** Stores rates of a parcel. Rates that another process has stored meanwhile stay. */
export const storeProviderRates = statement({
  name: 'shipping.store_provider_rates',
  takes: {
    parcel: 'bytea',
    rows: json<readonly { readonly provider: string; readonly rates: readonly ProviderRate[] }[]>(),
    seconds: 'float8'
  },
  text: `
    insert into shipping.provider_rates as stored (parcel, provider, rates, expires_at)
    select $parcel, provider, rates, now() + make_interval(secs => $seconds)
    from jsonb_to_recordset($rows) as fresh (provider text, rates jsonb)
    order by provider
    on conflict (parcel, provider) do update set rates = excluded.rates, expires_at = excluded.expires_at
    where stored.expires_at <= now()`
})
/** Lists the services that cost something in recent rates of providers, with the tax category of each. For diagnoses. */
export const listPaidProviderServices = statement({
  name: 'shipping.list_paid_provider_services',
  gives: { service: 'text', tax_category: 'text?' },
  slow: true,
  text: `
    select distinct provider || ': ' || (rate ->> 'name') as service, rate ->> 'taxCategory' as tax_category
    from shipping.provider_rates, jsonb_array_elements(rates) as rate
    where (rate ->> 'amountMinor')::bigint > 0 order by service, tax_category`
})
/** Deletes a batch of expired rates, and skips those that are locked. */
export const deleteExpiredProviderRates = statement({
  name: 'shipping.delete_expired_provider_rates',
  takes: { limit: 'int8' },
  text: `
    delete from shipping.provider_rates where (parcel, provider) in (
      select parcel, provider from shipping.provider_rates
      where expires_at <= now() order by expires_at limit $limit for update skip locked)`
})
