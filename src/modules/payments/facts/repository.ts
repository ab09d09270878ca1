import { json, oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import type { RankedPaymentFact } from './fact.ts'
import { isOfOrderSql } from './payments-of-order.ts'
import type { OrderPaymentAccountStatus, PaymentState, PaymentStatus, UnsettledRefund } from './reducer.ts'

const accountStatus = oneOf<OrderPaymentAccountStatus>()
export const paymentStatusColumnType = oneOf<PaymentStatus>()

const account = {
  order_id: 'uuid',
  customer_id: 'uuid?',
  token_version: 'int4',
  currency: 'text',
  due: 'int8',
  committed: 'int8',
  authorized: 'int8',
  captured: 'int8',
  refunding: 'int8',
  refunded: 'int8',
  disputed: 'int8',
  status: accountStatus,
  is_overpaid: 'bool',
  is_disputed: 'bool',
  frozen_at: 'timestamptz?'
} as const
const accountColumns = Object.keys(account).join(', ')

/** Locks the payment account of an order. Every change of the order's payments locks it before the row of the order. */
export const lockOrderPaymentAccount = statement({
  name: 'payments.lock_account',
  takes: { order_id: 'uuid' },
  gives: account,
  text: `select ${accountColumns} from payments.accounts where order_id = $order_id for update`
})
export const findOrderPaymentAccount = statement({
  name: 'payments.find_account',
  takes: { order_id: 'uuid' },
  gives: account,
  text: `select ${accountColumns} from payments.accounts where order_id = $order_id`
})
export type OrderPaymentAccountRow = RowOf<typeof findOrderPaymentAccount>

/** Commits an amount before the provider is called, so that two payments cannot cover the same amount. */
export const reservePaymentAmount = statement({
  name: 'payments.commit_amount',
  takes: { order_id: 'uuid', amount: 'int8' },
  text: `
    update payments.accounts set committed = committed + $amount
    where order_id = $order_id and frozen_at is null and committed + $amount <= due`
})

/** Replaces the fact of an object only by a later one, with the same comparison as `supersedes`. */
export const upsertPaymentFactsFromProvider = statement({
  name: 'payments.upsert_facts',
  takes: {
    provider: 'text',
    payment_id: 'uuid',
    source: 'text',
    kinds: 'text[]',
    objectIds: 'text[]',
    ranks: 'int4[]',
    statuses: 'text[]',
    amounts: 'int8[]',
    currencies: 'text[]',
    ends: 'int8[]',
    operations: 'text[]'
  },
  text: `
    insert into payments.facts
      (provider, kind, object_id, payment_id, rank, status, amount, currency, expires_at, operation_id, source)
    select $provider, kind, object_id, $payment_id, rank, status, amount, currency,
      to_timestamp(nullif(expires, 0)), nullif(operation, '')::uuid, $source
    from unnest($kinds::text[], $objectIds::text[], $ranks::int4[], $statuses::text[], $amounts::int8[],
      $currencies::text[], $ends::int8[], $operations::text[])
      as reported (kind, object_id, rank, status, amount, currency, expires, operation)
    on conflict (provider, kind, object_id) do update set
      rank = excluded.rank, status = excluded.status, amount = excluded.amount, currency = excluded.currency,
      expires_at = excluded.expires_at, operation_id = coalesce(excluded.operation_id, facts.operation_id),
      source = excluded.source, seen_at = now()
    where facts.payment_id = excluded.payment_id
      and (excluded.rank, excluded.amount, excluded.status collate "C", excluded.currency collate "C",
          coalesce(excluded.expires_at, '-infinity'))
        > (facts.rank, facts.amount, facts.status collate "C", facts.currency collate "C",
          coalesce(facts.expires_at, '-infinity'))`
})

/** Lists the inputs from which the state of an order's payments is derived, and the state that is stored. */
export const listPaymentsOfOrderWithFacts = statement({
  name: 'payments.list_known',
  takes: { order_id: 'uuid' },
  gives: {
    id: 'uuid',
    provider: 'text',
    method: 'text',
    amount: 'int8',
    network: 'text?',
    stored: json<PaymentState>(),
    is_busy: 'bool',
    voids: 'int8',
    facts: json<RankedPaymentFact[]>(),
    open_refunds: json<UnsettledRefund[]>()
  },
  text: `
    select id, provider, method, amount, network,
      jsonb_build_object('status', status, 'isOpen', is_open, 'authorized', authorized, 'captured', captured,
        'refunding', refunding, 'refunded', refunded, 'disputed', disputed,
        'authorizedUntil', extract(epoch from authorized_until)::int8) as stored,
      exists (select from payments.operations where payment_id = payments.id and settled_at is null) as is_busy,
      (select count(*) from payments.operations where payment_id = payments.id and kind = 'void') as voids,
      (select coalesce(jsonb_agg(jsonb_build_object('kind', kind, 'objectId', object_id, 'rank', rank,
          'status', status, 'amount', amount, 'currency', currency,
          'expiresAt', extract(epoch from expires_at)::int8, 'operationId', operation_id)), '[]'::jsonb)
        from payments.facts where payment_id = payments.id) as facts,
      (select coalesce(jsonb_agg(jsonb_build_object('id', id, 'amount', amount)), '[]'::jsonb)
        from payments.operations
        where payment_id = payments.id and kind = 'refund' and settled_at is null) as open_refunds
    from payments.payments where ${isOfOrderSql('$order_id')} order by id`
})

export const updatePaymentStates = statement({
  name: 'payments.update_payments',
  takes: {
    ids: 'uuid[]',
    statuses: 'text[]',
    open: 'bool[]',
    authorized: 'int8[]',
    captured: 'int8[]',
    refunding: 'int8[]',
    refunded: 'int8[]',
    disputed: 'int8[]',
    ends: 'int8[]'
  },
  text: `
    update payments.payments set
      status = state.status, is_open = state.open, authorized = state.authorized, captured = state.captured,
      refunding = state.refunding, refunded = state.refunded, disputed = state.disputed,
      authorized_until = to_timestamp(nullif(state.expires, 0)), updated_at = now()
    from unnest($ids::uuid[], $statuses::text[], $open::bool[], $authorized::int8[], $captured::int8[],
      $refunding::int8[], $refunded::int8[], $disputed::int8[], $ends::int8[])
      as state (id, status, open, authorized, captured, refunding, refunded, disputed, expires)
    where payments.id = state.id and payments.id = any ($ids)`
})
export const updateOrderPaymentAccount = statement({
  name: 'payments.update_account',
  takes: {
    order_id: 'uuid',
    committed: 'int8',
    authorized: 'int8',
    captured: 'int8',
    refunding: 'int8',
    refunded: 'int8',
    disputed: 'int8',
    status: accountStatus,
    isOverpaid: 'bool',
    isDisputed: 'bool'
  },
  text: `
    update payments.accounts set
      committed = $committed, authorized = $authorized, captured = $captured, refunding = $refunding,
      refunded = $refunded, disputed = $disputed, status = $status, is_overpaid = $isOverpaid,
      is_disputed = $isDisputed, updated_at = now()
    where order_id = $order_id`
})

/** Sums captures and refunds by the time at which the shop recorded them. */
export const sumPaymentsByDay = statement({
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
export type DailyPaymentSums = RowOf<typeof sumPaymentsByDay>
