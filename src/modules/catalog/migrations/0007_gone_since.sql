-- When a variant was deleted. Its name is deleted after a year.
alter table catalog.gone_variants add column gone_at timestamptz not null default now();
create index gone_variants_gone_at on catalog.gone_variants (gone_at);
