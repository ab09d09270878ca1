-- Figures of days that are over, so that the dashboard does not add up the orders of its whole period.
-- `scope`: the time zone that the days are of, and the modules that have figures.
create table admin.kept_days (
  scope text not null,
  day text collate "C" not null,               -- as ISO 8601 writes it, so that days sort as texts
  figures jsonb not null,
  counted_at timestamptz not null,
  constraint kept_days_pkey primary key (scope, day)
);
-- One row: when the shop began. Older days are not kept.
create table admin.beginning (at timestamptz not null);
insert into admin.beginning select coalesce(min(applied_at), now()) from cartwright.migrations;
