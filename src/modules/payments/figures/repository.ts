import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

/** What was taken and given back, by when the shop learned of it. */
export const sumMoney = statement({
  name: 'payments.sum_of_days',
  takes: { starts: 'text[]', end: 'timestamptz' },
  gives: { day: 'int4', currency: 'text', captured: 'int8', refunded: 'int8' },
  slow: true,
  text: `
    select width_bucket(seen_at, (select $starts::text[]::timestamptz[])) as day, currency,
      coalesce(sum(amount) filter (where kind = 'capture'), 0)::int8 as captured,
      coalesce(sum(amount) filter (where kind = 'refund'), 0)::int8 as refunded
    from payments.facts
    where kind in ('capture', 'refund') and status = 'succeeded'
      and seen_at >= ($starts::text[]::timestamptz[])[1] and seen_at < $end
    group by 1, 2 order by 1, 2`
})
export type MoneySums = RowOf<typeof sumMoney>

export const countQuarantined = statement({
  name: 'payments.count_quarantined',
  gives: { total: 'int8' },
  text: `select count(*) as total from payments.events where state = 'quarantined'`
})
