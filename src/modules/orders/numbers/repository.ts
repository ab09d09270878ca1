import { statement } from '../../../platform/postgres/statement.ts'

export const nextNumbers = statement({
  name: 'orders.next_numbers',
  takes: { count: 'int4' },
  gives: { value: 'int8' },
  text: `select nextval('orders.numbers') as value from generate_series(1, $count)`
})
/** Drawn when the table was made, and never changed: another one would give numbers again. */
export const findNumberKey = statement({
  name: 'orders.find_number_key',
  gives: { key: 'bytea' },
  text: 'select key from orders.number_key'
})
