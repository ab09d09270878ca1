export type BoundedSearchSqlParts = {
  /** The table, and joins after it. */
  table: string
  /** The columns that the list returns or sorts by. */
  columns: string
  /** The cursor and all filters except the searched value. */
  where: string
  /** The sort order in names of `columns`. An index has the same order. */
  by: string
  /** The select list over `page`, which has `columns`. */
  shown: string
  /** Returns the condition that a row has the value. An index other than that of the list has all such rows. */
  isMatch: (value: string) => string
  /** The searched value, such as `$q`, and an expression for it that hides it from the planner. */
  value: string
  hiddenValue: string
}

/**
 * Rows probed in list order, per row of the page. If more than one in a hundred matches, up to `SCANNED_PER_ROW` are
 * scanned; otherwise the index of the value is used.
 */
const PROBED_PER_ROW = 10
const SCANNED_PER_ROW = 50

/**
 * Returns the SQL that reads the first `$limit` rows of a list that match a value. The planner cannot estimate how far to
 * scan the index of the list. It misjudges rare values, and matching rows are adjacent, possibly after half of the table. So
 * the scan is bounded. If the page is not full after it, the index of the value finds all matches, which are then sorted.
 */
export function boundedSearchSql(search: BoundedSearchSqlParts): string {
  const { table, columns, where, by, shown, isMatch, value, hiddenValue } = search
  const first = (perRow: number) => `
        select ${columns}, ${isMatch(value)} as is_found from ${table} where ${where}
        order by ${by} limit $limit::int8 * ${perRow}`
  return `
    with near as (
      select * from (${first(SCANNED_PER_ROW)}) as walked
      where exists (select from (${first(PROBED_PER_ROW)}) as looked_at where is_found offset $limit / ${PROBED_PER_ROW})
      order by ${by}
    ), found as (
      select * from near where is_found order by ${by} limit $limit
    ), walk as materialized (
      -- The scan is also enough when it read all rows of the list.
      select case when (select count(*) from found) = $limit then true
        else (select count(*) from near) between 1 and $limit * ${SCANNED_PER_ROW} - 1 end as is_enough
    ), indexed as (
      -- The expression of the value and "offset 0" hide value and order from the planner, so that no
      -- estimate makes it scan the list or the whole table.
      select ${columns}, true from ${table} where ${where} and ${isMatch(hiddenValue)}
        and not (select is_enough from walk) offset 0
    ), page as (
      select * from found where (select is_enough from walk)
      union all
      (select * from indexed order by ${by} limit $limit)
    )
    select ${shown} from page order by ${by}`
}
