-- Systems poll for changed products, oldest change first.
create index products_updated on catalog.products (updated_at, id);
