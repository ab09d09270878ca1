import type { Queryable } from '../../../platform/postgres/database.ts'
import { type DailyOrderSums, sumOrdersByDay, sumSoldUnitsByDayAndProduct } from './statistics-repository.ts'

/** Maximum number of products of one call. The dashboard merges several calls and shows ten. */
const TOP_MAX = 25

/** Statistics of orders by day of their creation. `day` counts from 1. */
export type OrderStatistics = {
  /**
   * Days without orders are left out. `kept`: orders that were placed and not canceled. `total`: the amount
   * of those, in minor units, without canceled units. Returns and refunds are not subtracted, neither from
   * units.
   */
  readonly days: readonly DailyOrderSums[]
  /** Units of orders that were placed and not canceled. Days without units are left out. */
  readonly units: readonly { day: number; units: number }[]
  readonly products: readonly { product_id: string; name: string; units: number }[]
}

/** See `OrdersApi.statistics`. */
export async function readOrderStatistics(
  db: Queryable,
  starts: readonly Date[],
  end: Date
): Promise<OrderStatistics> {
  const period = { starts: starts.map(start => start.toISOString()), end }
  const sums = await db.rows(sumOrdersByDay, period)
  const [first] = sums.map(row => row.first).toSorted()
  const last = sums
    .map(row => row.last)
    .toSorted()
    .at(-1)
  if (first === undefined || last === undefined) return { days: [], units: [], products: [] }
  const rows = await db.rows(sumSoldUnitsByDayAndProduct, { ...period, first, last, limit: TOP_MAX })
  return {
    days: sums.map(({ first: _, last: _last, ...day }) => day),
    units: rows.flatMap(({ day, units }) => (day === null ? [] : [{ day, units }])),
    products: rows.flatMap(({ product_id, name, units }) =>
      product_id === null ? [] : [{ product_id, name, units }]
    )
  }
}
