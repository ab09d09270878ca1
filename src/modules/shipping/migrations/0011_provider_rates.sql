-- Rates of providers for a parcel, so that the price that a buyer saw stays the price of the order for some minutes.
create table shipping.provider_rates (
  -- Hash of destination, weight, value, units and currency.
  parcel bytea not null,
  provider text not null,
  rates jsonb not null,
  expires_at timestamptz not null,
  constraint provider_rates_pkey primary key (parcel, provider)
);
create index provider_rates_expires_at on shipping.provider_rates (expires_at);
