import { countUpTo } from '../../../platform/postgres/counting.ts'
import { nullableOneOf, statement } from '../../../platform/postgres/statement.ts'
import type { FulfillmentStatus, OrderStatus, PaymentStatus } from '../life/status.ts'
import { summary, summaryColumns } from '../orders/repository.ts'

/** What is null lets all pass. */
const filters = {
  status: nullableOneOf<OrderStatus>(),
  payment_status: nullableOneOf<PaymentStatus>(),
  fulfillment_status: nullableOneOf<FulfillmentStatus>(),
  customer_id: 'uuid?',
  email: 'text?',
  number: 'text?',
  from: 'timestamptz?',
  to: 'timestamptz?'
} as const
const matching = `
  ($status::text is null or status = $status)
  and ($payment_status::text is null or payment_status = $payment_status)
  and ($fulfillment_status::text is null or fulfillment_status = $fulfillment_status)
  and ($customer_id::uuid is null or customer_id = $customer_id)
  and ($email::text is null or lower(email) = lower($email))
  and ($number::text is null or number = $number)
  and ($from::timestamptz is null or created_at >= $from)
  and ($to::timestamptz is null or created_at < $to)`

export const listAllOrders = statement({
  name: 'orders.list_all_orders',
  takes: { ...filters, after: 'uuid', limit: 'int8' },
  gives: { ...summary, quantity: 'int8' },
  slow: true,
  text: `
    select ${summaryColumns},
      (select coalesce(sum(ordered - canceled), 0)::int8 from orders.lines where order_id = o.id) as quantity
    from orders.orders o where id < $after and ${matching} order by id desc limit $limit`
})
export const countAllOrders = statement({
  name: 'orders.count_all_orders',
  takes: filters,
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo(`orders.orders where ${matching}`)
})
