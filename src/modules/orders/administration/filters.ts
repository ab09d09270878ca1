import { readNumber } from '../numbers/number.ts'
import type { OrderQuery } from './schema.ts'

/** The filters of a list, as statements take them. */
export const filtersOf = ({ number, from, to, ...query }: OrderQuery) => ({
  status: query.status ?? null,
  payment_status: query.payment_status ?? null,
  fulfillment_status: query.fulfillment_status ?? null,
  customer_id: query.customer_id ?? null,
  email: query.email ?? null,
  placed: query.placed ?? null,
  number: number === undefined ? null : readNumber(number),
  from: from === undefined ? null : new Date(from),
  to: to === undefined ? null : new Date(to)
})
export type OrderFilters = ReturnType<typeof filtersOf>
