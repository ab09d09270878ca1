import type { Queryable } from '../../../platform/postgres/database.ts'
import { listBought } from './repository.ts'

/** See `OrdersApi.bought`. */
export async function bought(
  db: Queryable,
  customer_id: string,
  ids: readonly string[]
): Promise<ReadonlySet<string>> {
  const rows = await db.rows(listBought, { customer_id, ids: [...ids] })
  return new Set(rows.map(({ id }) => id))
}
