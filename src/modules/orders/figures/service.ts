import type { Queryable } from '../../../platform/postgres/database.ts'
import { type OrderSums, sumOrders, sumProducts } from './repository.ts'

const TOP_MAX = 10

/** What was ordered in some days, by when the orders were made. `day` counts from 1. */
export type OrderFigures = {
  /** Days without orders are left out. `kept` are placed and not canceled, and `total` is what those come to, in minor units. */
  readonly days: readonly OrderSums[]
  /** Units of what is kept. */
  readonly units: number
  readonly products: readonly { product_id: string; name: string; units: number }[]
}

/** See `OrdersApi.figures`. */
export async function figures(db: Queryable, starts: readonly Date[], end: Date): Promise<OrderFigures> {
  const period = { starts: starts.map(start => start.toISOString()), end }
  const [days, products] = await Promise.all([
    db.rows(sumOrders, period),
    db.rows(sumProducts, { ...period, limit: TOP_MAX })
  ])
  return {
    days,
    units: products[0]?.all_units ?? 0,
    products: products.map(({ all_units, ...product }) => product)
  }
}
