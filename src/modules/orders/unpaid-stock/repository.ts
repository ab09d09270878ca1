import { statement } from '../../../platform/postgres/statement.ts'
import { lockedOrderUpdate } from '../lifecycle/repository.ts'

/** A condition for the unpaid units of an order. Its variants are those of its lines, by which the primary key finds the units. */
export const isOfUnpaidOrderSql = (order: string): string =>
  `unpaid_units.order_id = ${order}
      and unpaid_units.variant_id = any (array(select lines.variant_id from orders.lines where lines.order_id = ${order}))`

/** The orders of one group commit. */
const wantedOrders = 'array(select order_id from wanted)'
const isOfOtherOrder = `others.order_id <> all (${wantedOrders})`

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
 * orders. Send it last in a transaction, because all such orders wait for it.
 */
export const lockUnpaidUnits = statement({
  name: 'orders.lock_unpaid_units',
  takes: { order_id: 'uuid' },
  gives: { at: 'int8' },
  forEach: true,
  text: `
    select at from (
      select at, order_id, pg_advisory_xact_lock(hashtextextended('orders unpaid units', 0)) from $each
    ) as waiting`
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
 * Counts the units of an order, behind `lockUnpaidUnits`. Returns per variant the units of all unpaid orders and of those of its
 * scopes, with its own. `all_`: the units of all variants, by the scopes. `network` null: the network stored with the order, which
 * is removed when the order is placed. Orders of one group commit see each other's units, whichever comes first. So a limit may
 * refuse the group, and then each of them is counted alone.
 */
export const insertUnpaidUnits = statement({
  name: 'orders.insert_unpaid_units',
  takes: { order_id: 'uuid', variant_ids: 'uuid[]', network: 'text?' },
  gives: {
    at: 'int8',
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
  forEach: true,
  text: `
    with wanted as materialized (select * from $each),
    own as (
      insert into orders.unpaid_units (order_id, variant_id, units, buyer, network, is_verified)
      select orders.id, variant_id, sum(ordered - canceled - fulfilled), right(buyer, 22), coalesce(wanted.network, orders.network),
        is_buyer_verified
      from wanted join orders.orders on orders.id = wanted.order_id join orders.lines on lines.order_id = wanted.order_id
      where orders.id = any (${wantedOrders}) and lines.order_id = any (${wantedOrders})
        and variant_id = any (wanted.variant_ids)
      group by orders.id, variant_id, wanted.network having sum(ordered - canceled - fulfilled) > 0
      on conflict (order_id, variant_id) do update set units = excluded.units, is_verified = excluded.is_verified
      returning *
    ), all_unverified as (
      update orders.unverified_units set units = unverified_units.units + added.units
      from (
        select sum(case when is_verified then 0 else units end - coalesce((
          select before.units from orders.unpaid_units before
          where before.variant_id = own.variant_id and before.order_id = own.order_id and not before.is_verified), 0)) as units
        from own
      ) as added
      where is_only and added.units <> 0
      returning unverified_units.units
    ), totals as materialized (
      select order_id,
        sum(sum(units)) over (partition by buyer) + (select coalesce(sum(units), 0) from orders.unpaid_units others
          where right(others.buyer, 7) = right(own.buyer, 7) and others.buyer = own.buyer and ${isOfOtherOrder}) as of_buyer,
        sum(sum(units)) over (partition by network) + (select coalesce(sum(units), 0) from orders.unpaid_units others
          where right(others.network, 7) = right(own.network, 7) and others.network = own.network and ${isOfOtherOrder}) as of_network
      from own group by order_id, buyer, network
    )
    select wanted.at, own.variant_id, own.units as requested,
      sum(own.units) over variant + others.units as reserved,
      sum(own.units) over (partition by own.variant_id, own.buyer) + others.of_buyer as of_buyer,
      sum(own.units) over (partition by own.variant_id, own.network) + others.of_network as of_network,
      coalesce(sum(own.units) filter (where not own.is_verified) over variant, 0) + others.of_unverified as of_unverified,
      totals.of_buyer::int8 as all_of_buyer, totals.of_network::int8 as all_of_network,
      coalesce((select units from all_unverified), (select units from orders.unverified_units where is_only)) as all_of_unverified
    from own join totals using (order_id) join wanted using (order_id), lateral (
      select coalesce(sum(units), 0) as units,
        coalesce(sum(units) filter (where others.buyer = own.buyer), 0) as of_buyer,
        coalesce(sum(units) filter (where others.network = own.network), 0) as of_network,
        coalesce(sum(units) filter (where not others.is_verified), 0) as of_unverified
      from orders.unpaid_units others where others.variant_id = own.variant_id and ${isOfOtherOrder}
    ) others
    window variant as (partition by own.variant_id)`
})
/**
 * Updates the counted units of an order: keeps rows only for units that it reserves without being paid.
 * Returns the variants with reserved but uncounted units; those were never counted, or the order was paid or
 * shipped in between. `unverified_units`: what `addUnverifiedUnits` has to add.
 */
export const syncUnpaidUnitsOfOrder = statement({
  name: 'orders.sync_unpaid_units',
  takes: { order_id: 'uuid' },
  gives: { variant_ids: 'uuid[]', unverified_units: 'int8' },
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
      returning -units as units, is_verified
    ), changed as (
      update orders.unpaid_units set units = open.units
      from open join orders.unpaid_units before on before.order_id = $order_id and before.variant_id = open.variant_id
      where unpaid_units.order_id = $order_id and unpaid_units.variant_id = open.variant_id
        and unpaid_units.units <> open.units
      returning open.units - before.units as units, unpaid_units.is_verified
    )
    select
      array(select variant_id from open where variant_id not in (
        select variant_id from orders.unpaid_units where ${isOfUnpaidOrderSql('$order_id')})) as variant_ids,
      (select coalesce(sum(units), 0) from (select * from gone union all select * from changed) as rows
        where not is_verified) as unverified_units`
})
/** Every new order with a deferred payment updates this row, so update it with the commit. */
export const addUnverifiedUnits = statement({
  name: 'orders.add_unverified_units',
  takes: { units: 'int8' },
  text: 'update orders.unverified_units set units = units + $units where is_only'
})
export const markBuyerOfOrderVerified = lockedOrderUpdate({
  name: 'orders.verify_buyer',
  takes: {},
  text: `
    with verified as (
      update orders.unpaid_units set is_verified = true where ${isOfUnpaidOrderSql('$id')} and not is_verified
      returning units
    ), unverified as (
      update orders.unverified_units set units = unverified_units.units - gone.units
      from (select sum(units) as units from verified) as gone where is_only and gone.units > 0
    )
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
