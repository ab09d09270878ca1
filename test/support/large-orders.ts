import type pg from 'pg'

/** Id of the order with this number from `fillLargeOrders`, whose ids rise with time as those of the shop do. */
const ORDER_ID = `(
  substr(stamp, 1, 8) || '-' || substr(stamp, 9, 4) || '-7000-8000-' || lpad(to_hex(i), 12, '0'))::uuid`

/** Days over which `fillLargeOrders` spreads its orders. The last one ends now. */
const ORDER_DAYS = 365

/**
 * Creates the orders of a year in some seconds. One in ten is a guest's, each customer has ten, most are completed, and no
 * pending order is paid. Each has a line, and one in fifty was canceled in part. Needs `fillLargeCatalog`.
 */
export async function fillLargeOrders(client: pg.ClientBase, orders: number): Promise<void> {
  const count = Math.trunc(orders)
  await client.query(`
    create temporary table made as
    select i, ${ORDER_ID} as id, created_at, i % 100 as kind,
      case when i % 10 <> 0 then md5('customer-' || i % ${Math.ceil(count / 10)})::uuid end as customer_id
    from (
      select i, lpad(to_hex(floor(extract(epoch from created_at) * 1000)::bigint), 12, '0') as stamp, created_at
      from (
        select i, date_trunc('milliseconds', now()) - interval '${ORDER_DAYS} days' * (${count} - i) / ${count} as created_at
        from generate_series(1, ${count}) i
      ) times
    ) stamps;
    create temporary table sold as
    select row_number() over () as at, variants.id, variants.product_id, variants.sku, products.name, products.slug, price_minor
    from catalog.variants join catalog.products on products.id = product_id limit 5000;
    create index on sold (at)`)
  await client.query(`
    insert into auth.users (id, email, name, role, email_verified_at, created_at)
    select customer_id, 'customer-' || min(i) || '@example.com', 'Person ' || min(i), 'customer', min(created_at), min(created_at)
    from made where customer_id is not null group by customer_id`)
  await client.query(`
    insert into orders.orders (
      id, number, state, terms, customer_id, buyer, email, market, currency, subtotal, discount_total, shipping_total,
      tax_total, tax_added, cash_rounding, total, shipping_address, billing_address, payment_status,
      fulfillment_status, placed_at, created_at, updated_at, progressed_at, metadata)
    select id, 'N' || i, case when kind < 3 then 'pending' when kind < 8 then 'canceled' when kind < 15 then 'placed' else 'completed' end,
      'prepaid', customer_id, md5('buyer-' || i % 100000), 'buyer-' || i % 100000 || '@example.com', 'default', 'USD', 2000, 0, 500,
      400, 0, 0, 2500, address, address,
      case when kind < 5 then 'unpaid' when kind < 8 then 'refunded' else 'paid' end,
      case when kind < 12 then 'none' else 'fulfilled' end,
      case when kind >= 3 then created_at end, created_at, created_at, created_at,
      case when i % 1000 = 7 then '{ "channel": "stand" }' when i % 3 = 0 then '{ "channel": "app" }' else '{}' end::jsonb
    from made cross join (select jsonb_build_object('name', 'Ada Lovelace', 'line1', '12 Long Street', 'city', 'Stockholm',
      'postal_code', '111 22', 'country', 'SE') as address) addresses;
    insert into orders.groups (order_id, group_key, method) select id, 'shipping', 'shipping' from made;
    insert into orders.lines (
      order_id, line, group_key, variant_id, product_id, sku, name, variant_name, slug, attributes, requires_shipping,
      weight_grams, unit_price, discounted_price, ordered, canceled)
    select made.id, 1, 'shipping', sold.id, product_id, sku, name, name, slug, '{}', true, 100, 1000, 1000, 2, (i % 50 = 9)::int
    from made join sold on sold.at = 1 + i % 5000 order by i;
    insert into orders.breakdowns (order_id, components)
    select id, '[{"position": 0, "kind": "item", "line": 1, "amount": 2000, "included": false}]' from made;
    insert into orders.history (order_id, action, to_state, at) select id, 'place', 'placed', created_at from made;
    insert into orders.adjustments (id, order_id, kind, amount, back, at)
    select md5('adjustment-' || i)::uuid, id, 'cancel', 1000, 1000, created_at from made where i % 50 = 9`)
  await client.query(`
    insert into payments.accounts (order_id, customer_id, currency, due, captured, status, created_at)
    select id, customer_id, 'USD', 2500, case when kind < 8 then 0 else 2500 end,
      case when kind < 8 then 'unpaid' else 'paid' end, created_at from made;
    insert into payments.payments (id, order_id, customer_id, provider, method, amount, currency, status, is_open, captured, created_at)
    select id, id, customer_id, 'sandbox', 'card', 2500, 'USD', 'succeeded', false, 2500, created_at from made where kind >= 8;
    insert into payments.facts (provider, kind, object_id, payment_id, rank, status, amount, currency, source, seen_at)
    select 'sandbox', 'capture', id::text, id, 1, 'succeeded', 2500, 'USD', 'answer', created_at from made where kind >= 8;
    drop table made, sold`)
  await client.query(`vacuum analyze auth.users, orders.orders, orders.groups, orders.lines, orders.breakdowns, orders.history,
    orders.adjustments, payments.accounts, payments.payments, payments.facts`)
}

/** Counts every variant of `fillLargeCatalog` in one location, a twentieth of them low, and has every paid order's parcel. */
export async function fillLargeStock(client: pg.ClientBase): Promise<void> {
  await client.query(`
    insert into inventory.locations (id, code, name, priority) values (md5('depot')::uuid, 'depot', 'Depot', 5);
    insert into inventory.items (id, sku, tracked, low_threshold)
    select id, sku, true, 2 from catalog.variants;
    insert into inventory.levels (item_id, location_id, on_hand)
    select id, md5('depot')::uuid, abs(hashtext(sku)) % 20 * 5 from catalog.variants;
    insert into inventory.movements (item_id, location_id, seq, kind, on_hand_delta, reserved_delta, on_hand_after,
      reserved_after, operation)
    select item_id, location_id, 1, 'count', on_hand, 0, on_hand, 0, gen_random_uuid() from inventory.levels;
    update inventory.items set is_low = true where exists (
      select from inventory.levels where item_id = items.id and on_hand <= low_threshold);
    insert into shipping.shipments (id, order_id, group_key, method, option_id, status, created_at, sent_at)
    select id, id, 'shipping', 'shipping', 'standard',
      case when fulfillment_status = 'none' then 'pending' else 'delivered' end, created_at,
      case when fulfillment_status <> 'none' then created_at end
    from orders.orders where state in ('placed', 'completed')`)
  await client.query(
    'vacuum analyze inventory.locations, inventory.items, inventory.levels, inventory.movements, shipping.shipments'
  )
}

/** Fills the event log with 50,000 events of twelve weeks, in batches of ten. */
export async function fillEventLog(client: pg.ClientBase): Promise<void> {
  await client.query(`
    select cartwright.create_partitions('cartwright.events', 'week', now() - interval '12 weeks', 12);
    insert into cartwright.events (id, occurred_at, event_id, subject, subject_version, name, payload_version, payload)
    select nextval('cartwright.event_ids'), now() - (50000 - n) * interval '145 seconds', gen_random_uuid(), gen_random_uuid(),
      1, (array['orders.placed', 'payments.paid', 'catalog.changed'])[n % 3 + 1], 1, jsonb_build_object('nth', n)
    from generate_series(1, 50000) n;
    insert into cartwright.event_batches (first_position, ids, last_id, skipped_ids, oldest_at, newest_at)
    select min(id), array_agg(id order by id), max(id), '{}', min(occurred_at), max(occurred_at)
    from cartwright.events group by (id - 1) / 10`)
  await client.query('vacuum analyze cartwright.events, cartwright.event_batches')
}
