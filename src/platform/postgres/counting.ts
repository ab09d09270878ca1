import { LIST_TOTAL_MAX } from '../../kernel/pages.ts'

/**
 * The text of a statement that counts the rows of a list for `readPage`. Counts one row more than `readPage` reports, because
 * the cost of an exact count grows with the table. Where the count also holds a larger limit of the table, that is `most`.
 * @example
 * assert.match(countUpTo('wishlist.wishes'), /from wishlist\.wishes limit 1001/)
 */
export const countUpTo = (rows: string, most = LIST_TOTAL_MAX): string =>
  `select count(*)::int as total from (select from ${rows} limit ${most + 1}) counted`
