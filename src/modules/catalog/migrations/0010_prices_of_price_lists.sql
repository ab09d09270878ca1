-- What the cheapest variant of a product costs in a price list that a market has, as `catalog.products` says it of the catalog's
-- own prices: lists of products are sorted and filtered by it. Without a row the product has no price there.
create table catalog.list_prices (
  product_id uuid not null constraint list_prices_product references catalog.products on delete cascade,
  list_id uuid not null,
  lowest_price_currency text not null,
  lowest_price_minor bigint not null,
  lowest_full_price_minor bigint not null,
  variant_count int not null,
  constraint list_prices_pkey primary key (product_id, list_id)
);
create index list_prices_by_price on catalog.list_prices (list_id, lowest_price_minor, product_id);
