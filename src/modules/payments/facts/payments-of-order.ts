/** The first payment of an order has its id. The index by order has entries of later payments only, so a condition names both. */
export const isOfOrderSql = (order: string): string =>
  `(payments.id = ${order} or payments.id <> payments.order_id) and payments.order_id = ${order}`
