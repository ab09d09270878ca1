import type { Queryable } from '../../../platform/postgres/database.ts'
import { type OrderSums, sumOrders, sumProducts, sumUnits } from './repository.ts'

const TOP_MAX = 10

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
  const [days, units, products] = await Promise.all([
    db.rows(sumOrders, period),
    db.rows(sumUnits, period),
    db.rows(sumProducts, { ...period, limit: TOP_MAX })
  ])
  return { days, units, products }
}
