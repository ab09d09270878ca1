import { json, nullableOneOf, oneOf, statement } from '../../../platform/postgres/statement.ts'
import { lockedOrderUpdate } from '../lifecycle/repository.ts'
import type { OrderLifecycleState, OrderPaymentStatus } from '../lifecycle/status.ts'
import { isOfUnpaidOrderSql } from './repository.ts'

/** Filters these orders: keeps the ids of orders that have no payment. */
export const listUnpaidOrdersWithIds = statement({
  name: 'orders.list_unpaid',
  takes: { ids: 'uuid[]' },
  gives: { id: 'uuid', customer_id: 'uuid?', network: 'text?' },
  text: `
    select id, customer_id, coalesce(network,
      (select max(network) from orders.unpaid_units where ${isOfUnpaidOrderSql('orders.id')})) as network
    from orders.orders
    where id = any ($ids) and state in ('pending', 'placed') and cancel_requested_at is null and payment_status = 'unpaid'`
})
const openLines = `(
      select coalesce(jsonb_agg(jsonb_build_object(
        'variantId', variant_id, 'units', ordered - canceled - fulfilled) order by line), '[]')
      from orders.lines where order_id = orders.id and ordered - canceled - fulfilled > 0)`
type OpenLines = readonly { variantId: string; units: number }[]

/** All unpaid orders of these customers, the earliest first, with the open units of their lines. */
export const listUnpaidOrdersOfCustomers = statement({
  name: 'orders.list_unpaid_of_customers',
  takes: { customer_ids: 'uuid[]' },
  gives: { id: 'uuid', customer_id: 'uuid?', lines: json<OpenLines>() },
  text: `
    select id, customer_id, ${openLines} as lines
    from orders.orders
    where customer_id = any ($customer_ids) and state in ('pending', 'placed') and payment_status = 'unpaid'
    order by created_at, id`
})
/** Pending card orders of these networks that are not older than `seconds`, earliest first. */
export const listPendingCardOrdersOfNetworks = statement({
  name: 'orders.list_new_card_orders',
  takes: { networks: 'text[]', seconds: 'float8' },
  gives: { id: 'uuid', network: 'text?', lines: json<OpenLines>() },
  text: `
    select id, network, ${openLines} as lines
    from orders.orders
    where state between 'pending' and 'pending' and right(network, 7) = any (array(select right(each, 7) from unnest($networks::text[]) each))
      and network = any ($networks) and not is_deferred and payment_status = 'unpaid'
      and created_at > now() - make_interval(secs => $seconds)
    order by created_at, id`
})
/** Records the units that an order contests, and returns the sum of all pending orders of its network. */
export const saveContestedUnitsAndSumNetwork = statement({
  name: 'orders.note_contested',
  takes: { id: 'uuid', network: 'text', units: 'int4' },
  gives: { units: 'int8' },
  text: `
    with noted as (update orders.orders set contested_units = $units where id = $id)
    select $units + coalesce(sum(contested_units), 0) as units from orders.orders
    where state between 'pending' and 'pending' and right(network, 7) = right($network, 7) and network = $network and id <> $id`
})
export const findStockEvictionOutcomeOfOrder = statement({
  name: 'orders.find_eviction_outcome',
  takes: { id: 'uuid' },
  gives: {
    state: oneOf<OrderLifecycleState>(),
    payment_status: nullableOneOf<OrderPaymentStatus>(),
    canceled_for: nullableOneOf<'evicted' | 'short'>()
  },
  text: 'select state, payment_status, canceled_for from orders.orders where id = $id'
})
export const recordCancellationCause = lockedOrderUpdate({
  name: 'orders.note_canceled_for',
  takes: { canceled_for: oneOf<'evicted' | 'short'>() },
  text: 'update orders.orders set canceled_for = $canceled_for where id = $id'
})
