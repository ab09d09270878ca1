import { statement } from '../../../platform/postgres/statement.ts'

/** Deletes the cart with its lines. The id of a customer's cart is the customer's id. */
export const deleteCartOfCustomer = statement({
  name: 'cart.delete_cart_of_customer',
  takes: { customer_id: 'uuid' },
  text: 'delete from cart.carts where cart_id = $customer_id'
})
/** Deletes the records of guest carts that were merged into the customer's cart. */
export const deleteCartMergeRecordsOfCustomer = statement({
  name: 'cart.delete_merges_of_customer',
  takes: { customer_id: 'uuid' },
  text: 'delete from cart.guest_carts where merged_into = $customer_id'
})
