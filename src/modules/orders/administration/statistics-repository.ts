import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

/**
 * Days of statistics: each starts at one of `starts`, and the last one ends at `end`. Statements read the
 * list of days once, in a subquery. Without it PostgreSQL reads a list of 366 days for each of 5,000 orders,
 * which exceeded the statement timeout (November 2026).
 */
const days = { starts: 'text[]', end: 'timestamptz' } as const
const within = `
  created_at >= ($starts::text[]::timestamptz[])[1] and created_at < $end`

/**
 * `total` excludes canceled units, but not returns or refunds. `first` and `last`: ids of orders. Adjustments
 * before the period are not read, because an order is canceled after its creation.
 */
export const sumOrdersByDay = statement({
  name: 'orders.sum_of_days',
  takes: days,
  gives: {
    day: 'int4',
    currency: 'text',
    made: 'int8',
    placed: 'int8',
    canceled: 'int8',
    kept: 'int8',
    total: 'int8',
    first: 'uuid',
    last: 'uuid'
  },
  slow: true,
  text: `
    select width_bucket(created_at, (select $starts::text[]::timestamptz[])) as day, currency, count(*) as made,
      count(*) filter (where placed_at is not null) as placed,
      count(*) filter (where state = 'canceled') as canceled,
      count(*) filter (where state in ('placed', 'completed')) as kept,
      coalesce(sum(total - coalesce(parts.amount, 0)) filter (where state in ('placed', 'completed')), 0)::int8 as total,
      min(id::text)::uuid as first, max(id::text)::uuid as last
    from orders.orders
    left join (
      select order_id, sum(amount) as amount from orders.adjustments
      where kind = 'cancel' and at >= ($starts::text[]::timestamptz[])[1]
      group by order_id
    ) parts on parts.order_id = orders.id
    where ${within}
    group by 1, 2 order by 1, 2`
})
export type DailyOrderSums = Omit<RowOf<typeof sumOrdersByDay>, 'first' | 'last'>

/**
 * Sums ordered units that are not canceled: of all products by day, and of the products with the most units.
 * Reads the lines of orders between two ids, because ids increase with time.
 */
export const sumSoldUnitsByDayAndProduct = statement({
  name: 'orders.sum_of_units',
  takes: { ...days, first: 'uuid', last: 'uuid', limit: 'int8' },
  gives: { day: 'int4?', product_id: 'uuid?', name: 'text', units: 'int8' },
  slow: true,
  text: `
    select day, product_id, name, units from (
      select width_bucket(o.created_at, (select $starts::text[]::timestamptz[])) as day, l.product_id,
        max(l.name) as name, sum(l.ordered - l.canceled)::int8 as units,
        row_number() over (
          partition by grouping(l.product_id) order by sum(l.ordered - l.canceled) desc, l.product_id
        ) as rank
      from orders.orders o join orders.lines l on l.order_id = o.id
      where ${within} and o.state in ('placed', 'completed') and l.order_id between $first and $last
      group by grouping sets ((1), (l.product_id))
    ) sums
    where day is not null or (rank <= $limit and units > 0)
    order by day, units desc, product_id`
})
