create schema admin;

-- Maintenance mode: while enabled, customers and guests can read but not write. One row.
create table admin.maintenance (
  is_only boolean not null default true constraint maintenance_pkey primary key constraint maintenance_only check (is_only),
  enabled boolean not null default false,
  message text,
  until timestamptz,
  version int not null default 1,
  updated_at timestamptz not null default now()
);
insert into admin.maintenance default values;
