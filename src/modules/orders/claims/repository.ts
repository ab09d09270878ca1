import { statement } from '../../../platform/postgres/statement.ts'

/** Whose it is, without holding it. */
export const findOwner = statement({
  name: 'orders.find_owner',
  takes: { id: 'uuid' },
  gives: { id: 'uuid', customer_id: 'uuid?', token_version: 'int4' },
  text: 'select id, customer_id, token_version from orders.orders where id = $id'
})
/** Whoever counts its uses and its waiting for a payment goes on doing so for the address that it was made with. */
export const handOver = statement({
  name: 'orders.hand_over',
  takes: { id: 'uuid', customer_id: 'uuid', token_version: 'int4' },
  text: 'update orders.orders set customer_id = $customer_id, token_version = $token_version where id = $id'
})
