-- The category that is never taxed. It has no rates; `not valid` keeps a rate that an older version
-- accepted.
insert into pricing.tax_categories (id, code, name) values (gen_random_uuid(), 'untaxed', 'Untaxed')
on conflict (code) do nothing;
alter table pricing.tax_rates add constraint tax_rates_untaxed check (category <> 'untaxed') not valid;
