import { statement } from '../../../platform/postgres/statement.ts'
import { lockedOrderUpdate } from '../lifecycle/repository.ts'

/** A condition for the unpaid units of an order. Its variants are those of its lines, by which the primary key finds the units. */
export const isOfUnpaidOrderSql = (order: string): string =>
  `unpaid_units.order_id = ${order}
      and unpaid_units.variant_id = any (array(select lines.variant_id from orders.lines where lines.order_id = ${order}))`

export const findUnpaidOrderBuyer = statement({
  name: 'orders.find_unpaid_subject',
  takes: { id: 'uuid' },
  gives: { network: 'text?', customer_id: 'uuid?', variant_ids: 'uuid[]' },
  text: `
    select network, customer_id,
      array(select distinct variant_id from orders.lines where order_id = orders.id) as variant_ids
    from orders.orders where id = $id`
})
/**
 * Serializes the counting of orders with a deferred payment, so that each order sees the units of earlier
 * orders.
 */
export const lockUnpaidUnits = statement({
  name: 'orders.lock_unpaid_units',
  text: `select pg_advisory_xact_lock(hashtextextended('orders unpaid units', 0))`
})
/** `paymentTimeoutSeconds` null: the expiry stays, and changes with the payment status. */
export const markOrderPaymentDeferred = statement({
  name: 'orders.defer_order',
  takes: { id: 'uuid', is_verified: 'bool', paymentTimeoutSeconds: 'float8?' },
  text: `
    update orders.orders set is_deferred = true, is_buyer_verified = $is_verified,
      expires_at = case when state = 'pending' and $paymentTimeoutSeconds::float8 is not null
        then created_at + make_interval(secs => $paymentTimeoutSeconds::float8) else expires_at end
    where id = $id`
})
/**
 * Counts the units of an order. Returns per variant the units of all unpaid orders and of those of its scopes, with its own.
 * `all_`: the units of all variants, by the scopes. `network` null: the network stored with the order, which is removed when the
 * order is placed.
 */
export const insertUnpaidUnits = statement({
  name: 'orders.insert_unpaid_units',
  takes: { order_id: 'uuid', variant_ids: 'uuid[]', network: 'text?' },
  gives: {
    variant_id: 'uuid',
    requested: 'int4',
    reserved: 'int8',
    of_buyer: 'int8',
    of_network: 'int8',
    of_unverified: 'int8',
    all_of_buyer: 'int8',
    all_of_network: 'int8',
    all_of_unverified: 'int8'
  },
  text: `
    with own as (
      insert into orders.unpaid_units (order_id, variant_id, units, buyer, network, is_verified)
      select order_id, variant_id, sum(ordered - canceled - fulfilled), buyer, coalesce($network, network), is_buyer_verified
      from orders.orders join orders.lines on lines.order_id = orders.id
      where orders.id = $order_id and variant_id = any ($variant_ids)
      group by order_id, variant_id, orders.id having sum(ordered - canceled - fulfilled) > 0
      on conflict (order_id, variant_id) do update set units = excluded.units, is_verified = excluded.is_verified
      returning *
    ), total as (
      select buyer, network, is_verified, sum(units) as units from own group by buyer, network, is_verified
    )
    select own.variant_id, own.units as requested, own.units + coalesce(sum(others.units), 0) as reserved,
      own.units + coalesce(sum(others.units) filter (where others.buyer = own.buyer), 0) as of_buyer,
      own.units + coalesce(sum(others.units) filter (where others.network = own.network), 0) as of_network,
      case when own.is_verified then 0 else own.units end
        + coalesce(sum(others.units) filter (where not others.is_verified), 0) as of_unverified,
      total.units + (select coalesce(sum(units), 0) from orders.unpaid_units
        where right(buyer, 7) = right(total.buyer, 7) and buyer = total.buyer and order_id <> $order_id) as all_of_buyer,
      total.units + (select coalesce(sum(units), 0) from orders.unpaid_units
        where right(network, 7) = right(total.network, 7) and network = total.network and order_id <> $order_id) as all_of_network,
      case when total.is_verified then 0 else total.units end + (select coalesce(sum(units), 0) from orders.unpaid_units
        where not is_verified and order_id <> $order_id) as all_of_unverified
    from own cross join total left join orders.unpaid_units others
      on others.variant_id = own.variant_id and others.order_id <> $order_id
    group by own.variant_id, own.units, own.is_verified, total.units, total.buyer, total.network, total.is_verified`
})
/**
 * Updates the counted units of an order: keeps rows only for units that it reserves without being paid.
 * Returns the variants with reserved but uncounted units; those were never counted, or the order was paid or
 * shipped in between.
 */
export const syncUnpaidUnitsOfOrder = statement({
  name: 'orders.sync_unpaid_units',
  takes: { order_id: 'uuid' },
  gives: { variant_id: 'uuid' },
  text: `
    with open as (
      select variant_id, sum(ordered - canceled - fulfilled)::int as units
      from orders.orders join orders.lines on lines.order_id = orders.id
      where orders.id = $order_id and state in ('pending', 'placed')
        and (payment_status is null or payment_status in ('unpaid', 'partially_paid'))
      group by variant_id having sum(ordered - canceled - fulfilled) > 0
    ), gone as (
      delete from orders.unpaid_units
      where ${isOfUnpaidOrderSql('$order_id')} and variant_id not in (select variant_id from open)
    ), changed as (
      update orders.unpaid_units set units = open.units from open
      where unpaid_units.order_id = $order_id and unpaid_units.variant_id = open.variant_id
        and unpaid_units.units <> open.units
    )
    select variant_id from open
    where variant_id not in (select variant_id from orders.unpaid_units where ${isOfUnpaidOrderSql('$order_id')})`
})
export const markBuyerOfOrderVerified = lockedOrderUpdate({
  name: 'orders.verify_buyer',
  takes: {},
  text: `
    with units as (update orders.unpaid_units set is_verified = true where ${isOfUnpaidOrderSql('$id')})
    update orders.orders set is_buyer_verified = true where id = $id`
})
/** Sums the units that unpaid orders reserve, and counts their orders, buyers and networks. */
export const sumAllUnpaidUnits = statement({
  name: 'orders.sum_all_unpaid_units',
  gives: { units: 'int8', orders: 'int8', buyers: 'int8', networks: 'int8', largest_network_units: 'int8' },
  slow: true,
  primaryOnly: true,
  text: `
    with networks as (
      select network, sum(units) as units from orders.unpaid_units where network is not null group by network
    )
    select coalesce(sum(units), 0) as units, count(distinct order_id) as orders, count(distinct buyer) as buyers,
      (select count(*) from networks) as networks,
      (select coalesce(max(units), 0) from networks) as largest_network_units
    from orders.unpaid_units`
})
/** Variants with the most units reserved by unpaid orders. */
export const listVariantsWithMostUnpaidUnits = statement({
  name: 'orders.list_largest_unpaid_units',
  takes: { more_than: 'int8', limit: 'int8' },
  gives: { variant_id: 'uuid', units: 'int8' },
  slow: true,
  primaryOnly: true,
  text: `
    select variant_id, sum(units) as units from orders.unpaid_units
    group by variant_id having sum(units) > $more_than order by units desc, variant_id limit $limit`
})
/** Records an alert. Returns no row if the last alert is less than `seconds` ago. */
export const recordUnpaidStockAlert = statement({
  name: 'orders.take_unpaid_alert',
  takes: { seconds: 'float8' },
  gives: { at: 'timestamptz' },
  text: `
    insert into orders.unpaid_alerts (at) values (now())
    on conflict (is_only) do update set at = now()
    where unpaid_alerts.at <= now() - make_interval(secs => $seconds)
    returning at`
})
