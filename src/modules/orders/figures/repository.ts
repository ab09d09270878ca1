import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

/**
 * Of orders that were made in these days, which begin at `starts`; the last one ends at `end`. Statements read the days by a
 * subquery, once: a list of 366 that is read anew for each of 5,000 orders took longer than a statement may (November 2026).
 */
const days = { starts: 'text[]', end: 'timestamptz' } as const
const within = `
  created_at >= ($starts::text[]::timestamptz[])[1] and created_at < $end`

/** `total`: like units, without what was canceled of them; what was returned or paid back is not taken off. */
export const sumOrders = statement({
  name: 'orders.sum_of_days',
  takes: days,
  gives: {
    day: 'int4',
    currency: 'text',
    made: 'int8',
    placed: 'int8',
    canceled: 'int8',
    kept: 'int8',
    total: 'int8'
  },
  slow: true,
  text: `
    select width_bucket(created_at, (select $starts::text[]::timestamptz[])) as day, currency, count(*) as made,
      count(*) filter (where placed_at is not null) as placed,
      count(*) filter (where state = 'canceled') as canceled,
      count(*) filter (where state in ('placed', 'completed')) as kept,
      coalesce(sum(total - (
        select coalesce(sum(amount), 0) from orders.adjustments where order_id = orders.id and kind = 'cancel'
      )) filter (where state in ('placed', 'completed')), 0)::int8 as total
    from orders.orders where ${within}
    group by 1, 2 order by 1, 2`
})
export type OrderSums = RowOf<typeof sumOrders>

/** How many units of all products together were ordered and not canceled. */
export const sumUnits = statement({
  name: 'orders.sum_of_units',
  takes: days,
  gives: { day: 'int4', units: 'int8' },
  slow: true,
  text: `
    select width_bucket(o.created_at, (select $starts::text[]::timestamptz[])) as day,
      sum(l.ordered - l.canceled)::int8 as units
    from orders.orders o join orders.lines l on l.order_id = o.id
    where ${within} and o.state in ('placed', 'completed')
    group by 1 order by 1`
})
/** Products by how many of them were ordered and not canceled. */
export const sumProducts = statement({
  name: 'orders.sum_of_products',
  takes: { ...days, limit: 'int8' },
  gives: { product_id: 'uuid', name: 'text', units: 'int8' },
  slow: true,
  text: `
    select l.product_id, max(l.name) as name, sum(l.ordered - l.canceled)::int8 as units
    from orders.orders o join orders.lines l on l.order_id = o.id
    where ${within} and o.state in ('placed', 'completed')
    group by l.product_id having sum(l.ordered - l.canceled) > 0
    order by units desc, l.product_id limit $limit`
})
