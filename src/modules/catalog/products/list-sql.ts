type ListQuery = {
  /** The columns that the list returns or sorts by. */
  columns: string
  /** Joins after the table of products. */
  joined?: string
  /** The cursor and all filters except the searched text. */
  where: string
  /** The sort order in names of `columns`. An index has the same order. */
  by: string
  /** The select list over `page`, which has `columns`. */
  shown: string
}

/** Returns the SQL that reads the first `$limit` products of a list. */
export const productListSql = ({ columns, joined = '', where, by, shown }: ListQuery): string => `
    select ${shown} from (
      select ${columns} from catalog.products ${joined} where ${where} order by ${by} limit $limit
    ) as page order by ${by}`

/**
 * Returns the condition that a product contains a text. `sku_text` has the SKUs of all variants, to read one
 * table only.
 */
export const productMatchesTextSql = (patterns: string): string =>
  `(search_text like any (${patterns}) or sku_text like any (${patterns}))`

/**
 * Products probed in list order, per row of the page. If more than one in a hundred matches, up to
 * `SCANNED_PER_ROW` are scanned; otherwise the trigram indexes are used.
 */
const PROBED_PER_ROW = 10
const SCANNED_PER_ROW = 50

/**
 * Returns the SQL that reads the first `$limit` products of a list that contain the text `$q`. The planner
 * cannot estimate how far to scan the list's index: it misjudges rare words, and SKUs of one series are
 * adjacent, possibly after half of the catalog. So the scan is bounded. If the page is not full after it, the
 * trigram indexes find all matches, which are then sorted.
 */
export function productSearchSql({ columns, joined = '', where, by, shown }: ListQuery): string {
  const first = (perRow: number) => `
        select ${columns}, ${productMatchesTextSql('$q')} as is_found from catalog.products ${joined} where ${where}
        order by ${by} limit $limit::int8 * ${perRow}`
  return `
    with near as (
      select * from (${first(SCANNED_PER_ROW)}) as walked
      where exists (select from (${first(PROBED_PER_ROW)}) as looked_at where is_found offset $limit / ${PROBED_PER_ROW})
      order by ${by}
    ), found as (
      select * from near where is_found order by ${by} limit $limit
    ), walk as materialized (
      -- The scan is also enough when it read all products of the list.
      select case when (select count(*) from found) = $limit then true
        else (select count(*) from near) between 1 and $limit * ${SCANNED_PER_ROW} - 1 end as is_enough
    ), indexed as (
      -- The subquery of unnest and "offset 0" hide patterns and order from the planner, so that no
      -- estimate makes it scan the list or the whole table.
      select ${columns}, true from catalog.products ${joined} where ${where} and ${productMatchesTextSql('array(select unnest($q::text[]))')}
        and not (select is_enough from walk) offset 0
    ), page as (
      select * from found where (select is_enough from walk)
      union all
      (select * from indexed order by ${by} limit $limit)
    )
    select ${shown} from page order by ${by}`
}
