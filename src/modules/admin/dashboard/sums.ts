import type { OrderFigures } from '../../orders/index.ts'
import type { MoneyFigures } from '../../payments/index.ts'

type OrderDay = OrderFigures['days'][number]
type MoneyDay = MoneyFigures[number]

const sumOf = <T>(rows: readonly T[], read: (row: T) => number) =>
  rows.reduce((sum, row) => sum + read(row), 0)

export const countsOf = (rows: readonly OrderDay[]) => ({
  made: sumOf(rows, ({ made }) => made),
  placed: sumOf(rows, ({ placed }) => placed),
  canceled: sumOf(rows, ({ canceled }) => canceled)
})

export const unitsOf = (rows: OrderFigures['units']) => sumOf(rows, ({ units }) => units)

export const newOf = (rows: readonly { readonly customers: number }[]) =>
  sumOf(rows, ({ customers }) => customers)

/** What orders come to that are placed and not canceled, by currency; where there is none, nothing. */
export const totalsOf = (rows: readonly OrderDay[]) =>
  byCurrency(rows).flatMap(([currency, each]) => {
    const orders = sumOf(each, ({ kept }) => kept)
    const total = sumOf(each, row => row.total)
    return orders === 0 ? [] : [{ currency, orders, total, average: Math.round(total / orders) }]
  })

export const revenueOf = (rows: readonly MoneyDay[]) =>
  byCurrency(rows).map(([currency, each]) => {
    const captured = sumOf(each, row => row.captured)
    const refunded = sumOf(each, row => row.refunded)
    return { currency, captured, refunded, net: captured - refunded }
  })

const byCurrency = <T extends { readonly currency: string }>(rows: readonly T[]) =>
  [...Map.groupBy(rows, ({ currency }) => currency)].sort(([one], [other]) => (one < other ? -1 : 1))
