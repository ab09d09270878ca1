import { oneOf, statement } from '../../../platform/postgres/statement.ts'

export type LimitedPaymentAttemptSubject = 'network' | 'order'

/**
 * Finds the `max`-th latest failed attempt since a time, of a network and of an order. Returns no row where fewer failed.
 * Attempts of payments with a captured or authorized amount do not count.
 */
export const findLimitingFailedPaymentAttempts = statement({
  name: 'payments.find_limiting_attempts',
  takes: { network: 'text?', order_id: 'uuid', since: 'timestamptz', max: 'int4' },
  gives: { subject: oneOf<LimitedPaymentAttemptSubject>(), seen_at: 'timestamptz' },
  text: `
    (select 'network' as subject, facts.seen_at
     from payments.payments join payments.facts on facts.payment_id = payments.id
     where right(payments.network, 7) = right($network, 7) and payments.network = $network and payments.captured = 0 and payments.authorized = 0
       and facts.kind = 'attempt' and facts.status = 'failed' and facts.seen_at > $since
     order by facts.seen_at desc offset $max - 1 limit 1)
    union all
    (select 'order', facts.seen_at
     from payments.payments join payments.facts on facts.payment_id = payments.id
     where (payments.id = $order_id or payments.id <> payments.order_id) and payments.order_id = $order_id
       and payments.captured = 0 and payments.authorized = 0
       and facts.kind = 'attempt' and facts.status = 'failed' and facts.seen_at > $since
     order by facts.seen_at desc offset $max - 1 limit 1)`
})
export const eraseOldPaymentNetworks = statement({
  name: 'payments.erase_old_networks',
  takes: { before: 'timestamptz' },
  text: `
    update payments.payments set network = null where id in (
      select id from payments.payments where network is not null and created_at < $before
      limit 500 for update skip locked)`
})
