-- The price of the cheapest variant of each product in the price lists of markets, for sorting and filtering
-- product lists. `catalog.products` has it for the catalog's own prices. Without a row, the product has no
-- price in the list.
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
