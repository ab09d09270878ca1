import { normalizeOrderNumber } from '../orders/order-number.ts'
import type { OrderFilterQuery } from './schema.ts'

/** Converts the query parameters of an order list into parameters of SQL statements. */
export const orderFiltersOfQuery = ({ number, from, to, ...query }: OrderFilterQuery) => ({
  status: query.status ?? null,
  payment_status: query.payment_status ?? null,
  fulfillment_status: query.fulfillment_status ?? null,
  customer_id: query.customer_id ?? null,
  email: query.email ?? null,
  placed: query.placed ?? null,
  metadata: query.metadata ?? null,
  number: number === undefined ? null : normalizeOrderNumber(number),
  from: from === undefined ? null : new Date(from),
  to: to === undefined ? null : new Date(to)
})
export type OrderFilters = ReturnType<typeof orderFiltersOfQuery>
