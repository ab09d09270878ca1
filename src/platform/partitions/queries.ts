import { oneOf, statement } from '../postgres/statement.ts'

export type PartitionPeriod = 'week' | 'month' | 'year'

/**
 * Creates the missing partitions of tables from the periods of a time to `ahead` periods later, and those of rows in
 * default partitions.
 */
export const createPartitions = statement({
  name: 'partitions.create',
  takes: { tables: 'text[]', periods: 'text[]', ahead: 'int4[]', at: 'timestamptz' },
  gives: { created: 'int8?' },
  text: `
    select sum(cartwright.create_partitions(name::regclass, period, $at, ahead)) as created
    from unnest($tables::text[], $periods::text[], $ahead::int[]) as partitioned (name, period, ahead)`
})

/** Drops the oldest partition whose period ended before a time. */
export const dropOldestPartition = statement({
  name: 'partitions.drop_oldest',
  takes: { table: 'text', period: oneOf<PartitionPeriod>(), before: 'timestamptz' },
  gives: { is_dropped: 'bool' },
  text: 'select cartwright.drop_oldest_partition($table::text::regclass, $period, $before) as is_dropped'
})

/** Lists the tables that have rows in their default partition, with how many, up to 1,000. */
export const listRowsOutsidePeriods = statement({
  name: 'partitions.list_outside',
  takes: { tables: 'text[]' },
  gives: { table: 'text', rows: 'int4' },
  slow: true,
  text: `
    select name as table, rows
    from unnest($tables::text[]) as partitioned (name), cartwright.count_outside(name::regclass) as rows
    where rows > 0`
})
