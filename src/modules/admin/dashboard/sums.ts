import type { OrderStatistics } from '../../orders/index.ts'
import type { PaymentStatistics } from '../../payments/index.ts'

type OrderDay = OrderStatistics['days'][number]
type MoneyDay = PaymentStatistics[number]

const sumOf = <T>(rows: readonly T[], read: (row: T) => number) =>
  rows.reduce((sum, row) => sum + read(row), 0)

export const sumOrderCounts = (rows: readonly OrderDay[]) => ({
  made: sumOf(rows, ({ made }) => made),
  placed: sumOf(rows, ({ placed }) => placed),
  canceled: sumOf(rows, ({ canceled }) => canceled)
})

export const sumSoldUnits = (rows: OrderStatistics['units']) => sumOf(rows, ({ units }) => units)

export const sumNewCustomers = (rows: readonly { readonly customers: number }[]) =>
  sumOf(rows, ({ customers }) => customers)

/** Totals of orders that are placed and not canceled, by currency. A currency without such orders is left out. */
export const orderTotalsByCurrency = (rows: readonly OrderDay[]) =>
  byCurrency(rows).flatMap(([currency, each]) => {
    const orders = sumOf(each, ({ kept }) => kept)
    const total = sumOf(each, row => row.total)
    return orders === 0 ? [] : [{ currency, orders, total, average: Math.round(total / orders) }]
  })

export const revenueByCurrency = (rows: readonly MoneyDay[]) =>
  byCurrency(rows).map(([currency, each]) => {
    const captured = sumOf(each, row => row.captured)
    const refunded = sumOf(each, row => row.refunded)
    return { currency, captured, refunded, net: captured - refunded }
  })

const byCurrency = <T extends { readonly currency: string }>(rows: readonly T[]) =>
  [...Map.groupBy(rows, ({ currency }) => currency)].sort(([one], [other]) => (one < other ? -1 : 1))
