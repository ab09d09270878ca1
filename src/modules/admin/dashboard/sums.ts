import { sumBy } from '../../../kernel/sum-by.ts'
import type { OrderStatistics } from '../../orders/index.ts'
import type { PaymentStatistics } from '../../payments/index.ts'

type OrderDay = OrderStatistics['days'][number]
type MoneyDay = PaymentStatistics[number]

export const sumOrderCounts = (rows: readonly OrderDay[]) => ({
  made: sumBy(rows, ({ made }) => made),
  placed: sumBy(rows, ({ placed }) => placed),
  canceled: sumBy(rows, ({ canceled }) => canceled)
})

export const sumSoldUnits = (rows: OrderStatistics['units']) => sumBy(rows, ({ units }) => units)

export const sumNewCustomers = (rows: readonly { readonly customers: number }[]) =>
  sumBy(rows, ({ customers }) => customers)

/** Totals of orders that are placed and not canceled, by currency. A currency without such orders is left out. */
export const orderTotalsByCurrency = (rows: readonly OrderDay[]) =>
  byCurrency(rows).flatMap(([currency, each]) => {
    const orders = sumBy(each, ({ kept }) => kept)
    const total = sumBy(each, row => row.total)
    return orders === 0 ? [] : [{ currency, orders, total, average: Math.round(total / orders) }]
  })

export const revenueByCurrency = (rows: readonly MoneyDay[]) =>
  byCurrency(rows).map(([currency, each]) => {
    const captured = sumBy(each, row => row.captured)
    const refunded = sumBy(each, row => row.refunded)
    return { currency, captured, refunded, net: captured - refunded }
  })

const byCurrency = <T extends { readonly currency: string }>(rows: readonly T[]) =>
  [...Map.groupBy(rows, ({ currency }) => currency)].sort(([one], [other]) => (one < other ? -1 : 1))
