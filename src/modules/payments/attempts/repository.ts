import { oneOf, statement } from '../../../platform/postgres/statement.ts'

export type AttemptSubject = 'network' | 'order'

/**
 * The `max`-th latest failed attempt since a time, of a network and of an order; no row where there are fewer. Those of payments
 * that money was taken or held by do not count.
 */
export const findPauses = statement({
  name: 'payments.find_attempt_pauses',
  takes: { network: 'text?', order_id: 'uuid', since: 'timestamptz', max: 'int4' },
  gives: { subject: oneOf<AttemptSubject>(), seen_at: 'timestamptz' },
  text: `
    (select 'network' as subject, facts.seen_at
     from payments.payments join payments.facts on facts.payment_id = payments.id
     where payments.network = $network and payments.captured = 0 and payments.authorized = 0
       and facts.kind = 'attempt' and facts.status = 'failed' and facts.seen_at > $since
     order by facts.seen_at desc offset $max - 1 limit 1)
    union all
    (select 'order', facts.seen_at
     from payments.payments join payments.facts on facts.payment_id = payments.id
     where payments.order_id = $order_id and payments.captured = 0 and payments.authorized = 0
       and facts.kind = 'attempt' and facts.status = 'failed' and facts.seen_at > $since
     order by facts.seen_at desc offset $max - 1 limit 1)`
})
export const eraseOldNetworks = statement({
  name: 'payments.erase_old_networks',
  takes: { before: 'timestamptz' },
  text: `
    update payments.payments set network = null where id in (
      select id from payments.payments where network is not null and created_at < $before
      limit 500 for update skip locked)`
})
