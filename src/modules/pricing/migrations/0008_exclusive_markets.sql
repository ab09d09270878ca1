-- Orders to the countries of a market are placed in no other market, unless the shop allows it.
alter table pricing.markets add column exclusive boolean not null default true;
