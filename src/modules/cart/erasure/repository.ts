import { statement } from '../../../platform/postgres/statement.ts'

/** With its lines; a customer's cart has the customer's id. */
export const deleteCart = statement({
  name: 'cart.delete_cart_of_customer',
  takes: { customer_id: 'uuid' },
  text: 'delete from cart.carts where cart_id = $customer_id'
})
/** Which guest somebody was before they had a name here. */
export const deleteMerges = statement({
  name: 'cart.delete_merges_of_customer',
  takes: { customer_id: 'uuid' },
  text: 'delete from cart.guest_carts where merged_into = $customer_id'
})
