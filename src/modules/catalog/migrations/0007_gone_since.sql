-- For how long the name of a deleted variant is kept.
alter table catalog.gone_variants add column gone_at timestamptz not null default now();
create index gone_variants_gone_at on catalog.gone_variants (gone_at);
