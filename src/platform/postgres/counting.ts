import { COUNTED_MAX } from '../../kernel/pages.ts'

/**
 * The text of a statement that counts the rows of a list for `readPage`. Counts one row more than `readPage` reports, because
 * the cost of an exact count grows with the table.
 */
export const countUpTo = (rows: string): string =>
  `select count(*)::int as total from (select from ${rows} limit ${COUNTED_MAX + 1}) counted`
