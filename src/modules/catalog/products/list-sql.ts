import { boundedSearchSql } from '../../../platform/postgres/bounded-search.ts'

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

/** Returns the SQL that reads the first `$limit` products of a list that contain the text `$q`. */
export const productSearchSql = ({ joined = '', ...list }: ListQuery): string =>
  boundedSearchSql({
    ...list,
    table: `catalog.products ${joined}`,
    isMatch: productMatchesTextSql,
    value: '$q',
    hiddenValue: 'array(select unnest($q::text[]))'
  })
