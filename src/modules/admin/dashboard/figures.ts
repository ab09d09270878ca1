import type { Database } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { OrderFigures, OrdersApi } from '../../orders/index.ts'
import type { MoneyFigures, PaymentsApi } from '../../payments/index.ts'
import type { Period } from './period.ts'

type Registered = Awaited<ReturnType<AuthApi['registered']>>
/** Figures of some days, counted from 1; null while their module is switched off. */
export type Figures = {
  readonly orders: OrderFigures | null
  readonly money: MoneyFigures | null
  readonly customers: Registered | null
}
type Days = Pick<Period, 'starts' | 'end'>
export type ReadFigures = ReturnType<typeof createFigures>

type Deps = {
  db: Database
  auth: Pick<AuthApi, 'registered'> | undefined
  orders: Pick<OrdersApi, 'figures'> | undefined
  payments: Pick<PaymentsApi, 'figures'> | undefined
}

/** Adds up the orders, the money and the new customers of some days: the cost grows with their orders. */
export const createFigures =
  ({ db, auth, orders, payments }: Deps) =>
  async ({ starts, end }: Days): Promise<Figures> => {
    const [customers, ordered, money] = await Promise.all([
      auth?.registered(starts, end),
      orders?.figures(db, starts, end),
      payments?.figures(db, starts, end)
    ])
    return { orders: ordered ?? null, money: money ?? null, customers: customers ?? null }
  }

/** The figures of several runs of days as those of one period. `offset`: days of the period before the run. */
export function joinFigures(
  runs: readonly { readonly offset: number; readonly figures: Figures }[]
): Figures {
  const shifted = <T extends { readonly day: number }>(rows: readonly T[] | undefined, offset: number) =>
    (rows ?? []).map(row => ({ ...row, day: row.day + offset }))
  const has = (part: keyof Figures) => runs.some(({ figures }) => figures[part] !== null)
  const all = <T extends { readonly day: number }>(rowsOf: (figures: Figures) => readonly T[] | undefined) =>
    runs.flatMap(({ offset, figures }) => shifted(rowsOf(figures), offset))
  const products = runs.flatMap(({ figures }) => figures.orders?.products ?? [])
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

/** Those with the most units first. */
function sumProducts(products: OrderFigures['products']): OrderFigures['products'] {
  const sums = new Map<string, OrderFigures['products'][number]>()
  for (const product of products) {
    const units = product.units + (sums.get(product.product_id)?.units ?? 0)
    sums.set(product.product_id, { ...product, units })
  }
  return [...sums.values()].sort(
    (one, other) => other.units - one.units || (one.product_id < other.product_id ? -1 : 1)
  )
}
