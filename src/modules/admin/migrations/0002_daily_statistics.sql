-- Statistics of past days, so that the dashboard does not add up the orders of its whole period.
create table admin.daily_statistics (
  -- Time zone of the days, and the modules that have statistics.
  scope text not null,
  -- ISO 8601, which sorts as text.
  day text collate "C" not null,
  statistics jsonb not null,
  computed_at timestamptz not null,
  constraint daily_statistics_pkey primary key (scope, day)
);
-- One row: when the shop was set up. Earlier days are not stored.
create table admin.beginning (at timestamptz not null);
insert into admin.beginning select coalesce(min(applied_at), now()) from cartwright.migrations;
