create schema admin;

-- Whether shoppers may change anything, and what they are told while they may not.
create table admin.maintenance (
  is_only boolean not null default true constraint maintenance_pkey primary key constraint maintenance_only check (is_only),
  enabled boolean not null default false,
  message text,
  until timestamptz,
  version int not null default 1,
  updated_at timestamptz not null default now()
);
insert into admin.maintenance default values;
