-- The quantities in which a variant is sold: minimum, maximum and step. Carts reject other quantities.
alter table catalog.variants
  add column quantity_min int not null default 1,
  add column quantity_max int,
  add column quantity_step int not null default 1,
  add column requires_shipping boolean not null default true,
  -- The code of the tax category, which selects the tax rates. The operator defines it.
  add column tax_category text constraint variants_tax_category check (tax_category ~ '^[a-z][a-z0-9_-]{0,63}$'),
  add constraint variants_quantity check (
    quantity_step between 1 and 1000000 and quantity_min between 1 and 1000000 and quantity_min % quantity_step = 0
    and (quantity_max is null
      or (quantity_max between quantity_min and 1000000 and quantity_max % quantity_step = 0)));
