import type { Database } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { OrderStatistics, OrdersApi } from '../../orders/index.ts'
import type { PaymentStatistics, PaymentsApi } from '../../payments/index.ts'
import type { DashboardPeriod } from './period.ts'

type RegistrationsByDay = Awaited<ReturnType<AuthApi['registered']>>
/** Statistics by day. `day` in the rows is a number from 1. Null: the module is switched off. */
export type DashboardStatistics = {
  readonly orders: OrderStatistics | null
  readonly money: PaymentStatistics | null
  readonly customers: RegistrationsByDay | null
}
type DayBounds = Pick<DashboardPeriod, 'starts' | 'end'>
export type ReadDashboardStatistics = ReturnType<typeof createDashboardStatisticsReader>

type Deps = {
  db: Database
  auth: Pick<AuthApi, 'registered'> | undefined
  orders: Pick<OrdersApi, 'statistics'> | undefined
  payments: Pick<PaymentsApi, 'statistics'> | undefined
}

/** Adds up the orders, payments and new customers of some days. The cost grows with the number of their orders. */
export const createDashboardStatisticsReader =
  ({ db, auth, orders, payments }: Deps) =>
  async ({ starts, end }: DayBounds): Promise<DashboardStatistics> => {
    const [customers, orderRows, money] = await Promise.all([
      auth?.registered(starts, end),
      orders?.statistics(db, starts, end),
      payments?.statistics(db, starts, end)
    ])
    return { orders: orderRows ?? null, money: money ?? null, customers: customers ?? null }
  }

/** Merges the statistics of parts of a period. `offset`: number of days of the period before the part. */
export function mergeStatisticsOfPeriodParts(
  parts: readonly { readonly offset: number; readonly statistics: DashboardStatistics }[]
): DashboardStatistics {
  const shifted = <T extends { readonly day: number }>(rows: readonly T[] | undefined, offset: number) =>
    (rows ?? []).map(row => ({ ...row, day: row.day + offset }))
  const has = (key: keyof DashboardStatistics) => parts.some(({ statistics }) => statistics[key] !== null)
  const all = <T extends { readonly day: number }>(
    rowsOf: (statistics: DashboardStatistics) => readonly T[] | undefined
  ) => parts.flatMap(({ offset, statistics }) => shifted(rowsOf(statistics), offset))
  const products = parts.flatMap(({ statistics }) => statistics.orders?.products ?? [])
  return {
    orders: has('orders')
      ? {
          days: all(({ orders }) => orders?.days),
          units: all(({ orders }) => orders?.units),
          products: sumProducts(products)
        }
      : null,
    money: has('money') ? all(({ money }) => money ?? undefined) : null,
    customers: has('customers') ? all(({ customers }) => customers ?? undefined) : null
  }
}

/** Adds up the units by product, and sorts by units, most first. */
function sumProducts(products: OrderStatistics['products']): OrderStatistics['products'] {
  const sums = new Map<string, OrderStatistics['products'][number]>()
  for (const product of products) {
    const units = product.units + (sums.get(product.product_id)?.units ?? 0)
    sums.set(product.product_id, { ...product, units })
  }
  return [...sums.values()].sort(
    (one, other) => other.units - one.units || (one.product_id < other.product_id ? -1 : 1)
  )
}
