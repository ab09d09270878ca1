import type { Queryable } from '../../../platform/postgres/database.ts'
import { listOrdersForPackingSlips } from './repository.ts'

/** Reads what packing slips show of these orders. */
export const readOrdersForPackingSlips = (db: Queryable, ids: readonly string[]) =>
  db.rows(listOrdersForPackingSlips, { ids: [...ids] })
