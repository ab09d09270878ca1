import { statement } from '../../../platform/postgres/statement.ts'

export const nextNumber = statement({
  name: 'orders.next_number',
  gives: { value: 'int8' },
  text: `select nextval('orders.numbers') as value`
})
/** Drawn when the table was made, and never changed: another one would give numbers again. */
export const findNumberKey = statement({
  name: 'orders.find_number_key',
  gives: { key: 'bytea' },
  text: 'select key from orders.number_key'
})
