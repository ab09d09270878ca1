import type { Queryable } from '../../../platform/postgres/database.ts'
import { type OrderSums, sumOrders, sumUnits } from './repository.ts'

/** Products of one call: the dashboard adds up those of many days, and shows ten. */
const TOP_MAX = 25

/** What was ordered in some days, by when the orders were made. `day` counts from 1. */
export type OrderFigures = {
  /**
   * Days without orders are left out. `kept` are placed and not canceled, and `total` is what those come to, in minor units,
   * without what was canceled of them; what was returned or paid back is not taken off, from units neither.
   */
  readonly days: readonly OrderSums[]
  /** Units of what is kept; days without any are left out. */
  readonly units: readonly { day: number; units: number }[]
  readonly products: readonly { product_id: string; name: string; units: number }[]
}

/** See `OrdersApi.figures`. */
export async function figures(db: Queryable, starts: readonly Date[], end: Date): Promise<OrderFigures> {
  const period = { starts: starts.map(start => start.toISOString()), end }
  const sums = await db.rows(sumOrders, period)
  const [first] = sums.map(row => row.first).toSorted()
  const last = sums
    .map(row => row.last)
    .toSorted()
    .at(-1)
  if (first === undefined || last === undefined) return { days: [], units: [], products: [] }
  const rows = await db.rows(sumUnits, { ...period, first, last, limit: TOP_MAX })
  return {
    days: sums.map(({ first: _, last: _last, ...day }) => day),
    units: rows.flatMap(({ day, units }) => (day === null ? [] : [{ day, units }])),
    products: rows.flatMap(({ product_id, name, units }) =>
      product_id === null ? [] : [{ product_id, name, units }]
    )
  }
}
