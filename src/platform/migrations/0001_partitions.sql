-- Tables that are partitioned by time. Their partitions are named after the period (UTC): events_2026w48,
-- event_bytes_2026m11, history_2026. Rows without a partition of their period are in the default partition, so that no
-- insert fails.

-- The first id (UUIDv7) of a millisecond. Tables without a column of time are partitioned by their ids.
create function cartwright.first_id_at(at timestamptz) returns uuid immutable
return (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || repeat('0', 20))::uuid;

-- When an id was drawn. Null: the id has another version and says nothing about time.
create function cartwright.time_of_id(id uuid) returns timestamptz immutable
return case when substr(id::text, 15, 1) = '7' then
  timestamptz 'epoch' + ('x' || substr(replace(id::text, '-', ''), 1, 12))::bit(48)::bigint * interval '1 millisecond' end;

create function cartwright.partition_name(parent regclass, period text, starts_at timestamptz) returns text stable
return (select relname from pg_class where oid = parent) || to_char(starts_at at time zone 'UTC',
  case period when 'week' then '"_"IYYY"w"IW' when 'month' then '"_"YYYY"m"MM' when 'year' then '"_"YYYY' end);

-- How a table is partitioned: the time of a row as an expression, whether it is the time of an id, and the default
-- partition.
create function cartwright.partition_key(parent regclass, out time_sql text, out is_id boolean, out rest regclass) stable
begin atomic
  select format(case when atttypid = 'uuid'::regtype then 'cartwright.time_of_id(%I)' else '%I' end, attname),
    atttypid = 'uuid'::regtype, partdefid::regclass
  from pg_partitioned_table join pg_attribute on attrelid = partrelid and attnum = partattrs[0]
  where partrelid = parent;
end;

-- Creates the missing partitions from the period of a time to `ahead` periods later, and those of rows in the default
-- partition, and moves these rows. Returns how many it created. Attaching locks the default partition, so it fails after 200
-- ms.
create function cartwright.create_partitions(parent regclass, period text, at timestamptz, ahead int) returns int
language plpgsql as $$
declare
  span interval := ('1 ' || period)::interval;
  first_at timestamptz := date_trunc(period, at, 'UTC');
  last_at timestamptz := (first_at at time zone 'UTC' + ahead * span) at time zone 'UTC';
  key record;
  schema text := (select relnamespace::regnamespace from pg_class where oid = parent);
  starts timestamptz[];
  start_at timestamptz;
  end_at timestamptz;
  name text;
  has_rows boolean;
  created int := 0;
begin
  perform pg_advisory_xact_lock(hashtextextended('cartwright.partitions', parent::oid::bigint));
  perform set_config('lock_timeout', '200ms', true);
  select * into key from cartwright.partition_key(parent);
  execute format(
    'select array_agg(start order by start) from (
       select step at time zone ''UTC'' as start from generate_series($2 at time zone ''UTC'', $3 at time zone ''UTC'', $4) as step
       union
       select date_trunc($1, %1$s, ''UTC'') from %2$s where %1$s < $3
     ) as wanted', key.time_sql, key.rest)
    into starts using period, first_at, last_at, span;
  foreach start_at in array starts loop
    name := format('%s.%I', schema, cartwright.partition_name(parent, period, start_at));
    continue when to_regclass(name) is not null;
    end_at := (start_at at time zone 'UTC' + span) at time zone 'UTC';
    execute format('create table %s (like %s including all excluding identity)', name, parent);
    execute format('select exists (select from %1$s where %2$s >= $1 and %2$s < $2)', key.rest, key.time_sql)
      into has_rows using start_at, end_at;
    if has_rows then
      execute format('lock table only %s in access exclusive mode', key.rest);
      execute format(
        'with moved as (delete from %1$s where %2$s >= $1 and %2$s < $2 returning *) insert into %3$s select * from moved',
        key.rest, key.time_sql, name) using start_at, end_at;
    end if;
    execute format('alter table %s attach partition %s for values from (%L) to (%L)', parent, name,
      case when key.is_id then cartwright.first_id_at(start_at)::text else start_at::text end,
      case when key.is_id then cartwright.first_id_at(end_at)::text else end_at::text end);
    created := created + 1;
  end loop;
  return created;
end $$;

-- Drops the oldest partition whose period ended before a time, and such rows of the default partition. Returns whether
-- there was one. Statements that use the table wait while it waits for its lock, so it gives up after 200 ms. PostgreSQL
-- deletes the files after it has released the lock.
create function cartwright.drop_oldest_partition(parent regclass, period text, before timestamptz) returns boolean
language plpgsql as $$
declare
  kept_at timestamptz := date_trunc(period, before, 'UTC');
  key record;
  expired regclass;
begin
  perform pg_advisory_xact_lock(hashtextextended('cartwright.partitions', parent::oid::bigint));
  select * into key from cartwright.partition_key(parent);
  select inhrelid::regclass into expired from pg_inherits join pg_class on pg_class.oid = inhrelid
  where inhparent = parent and inhrelid <> key.rest and relname < cartwright.partition_name(parent, period, kept_at)
  order by relname limit 1;
  if expired is not null then
    -- A vacuum may hold this lock. PostgreSQL cancels an autovacuum for a statement that has waited for a second.
    perform set_config('lock_timeout', '3s', true);
    execute format('lock table only %s, only %s in share update exclusive mode', expired, key.rest);
  end if;
  perform set_config('lock_timeout', '200ms', true);
  execute format('delete from %s where %s < $1', key.rest, key.time_sql) using kept_at;
  if expired is null then return false; end if;
  execute format('alter table %s detach partition %s', parent, expired);
  execute format('drop table %s', expired);
  return true;
end $$;

-- Counts the rows of the default partition, up to 1,000.
create function cartwright.count_outside(parent regclass) returns int stable
language plpgsql as $$
declare
  outside int;
begin
  execute format('select count(*) from (select from %s limit 1000) as rows', (cartwright.partition_key(parent)).rest) into outside;
  return outside;
end $$;
