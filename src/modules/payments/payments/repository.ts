import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import { isOfOrderSql } from '../facts/payments-of-order.ts'
import { paymentStatusColumnType } from '../facts/repository.ts'
import type { PaymentForProvider } from '../providers/port.ts'

const payment = {
  id: 'uuid',
  order_id: 'uuid',
  customer_id: 'uuid?',
  provider: 'text',
  method: 'text',
  amount: 'int8',
  currency: 'text',
  status: paymentStatusColumnType,
  is_open: 'bool',
  authorized: 'int8',
  captured: 'int8',
  refunding: 'int8',
  refunded: 'int8',
  disputed: 'int8',
  authorized_until: 'timestamptz?',
  object_id: 'text?',
  next_step: 'bytea?',
  created_at: 'timestamptz',
  updated_at: 'timestamptz'
} as const
const paymentColumns = Object.keys(payment).join(', ')

const { id, order_id, customer_id, provider, method, amount, currency } = payment
const started = { id, order_id, customer_id, provider, method, amount, currency }
/** The columns of a payment that has just begun. */
export const newPaymentColumns = { ...started, network: 'text?' } as const

export const findPayment = statement({
  name: 'payments.find_payment',
  takes: { id: 'uuid' },
  gives: payment,
  text: `select ${paymentColumns} from payments.payments where id = $id`
})
export type PaymentRow = RowOf<typeof findPayment>
/** Converts a row to the form that providers take. */
export const paymentForProviderFromRow = ({
  order_id: orderId,
  object_id: objectId,
  ...of
}: Pick<
  PaymentRow,
  'id' | 'order_id' | 'method' | 'amount' | 'currency' | 'object_id'
>): PaymentForProvider => ({
  id: of.id,
  orderId,
  objectId,
  method: of.method,
  amount: of.amount,
  currency: of.currency
})
/** Finds a payment by the id of its object at the provider. Manual payments have none, and no entry in its index. */
export const findPaymentByProviderObjectId = statement({
  name: 'payments.find_payment_by_object',
  takes: { provider: 'text', object_id: 'text' },
  gives: payment,
  text: `
    select ${paymentColumns} from payments.payments where provider = $provider and object_id = $object_id and provider <> 'manual'`
})
/** Finds payments by their ids, or by the ids of their objects at the provider. */
export const listPaymentsByIdOrObjectId = statement({
  name: 'payments.list_payments_by_references',
  takes: { provider: 'text', ids: 'uuid[]', objectIds: 'text[]' },
  gives: payment,
  text: `
    select ${paymentColumns} from payments.payments
    where provider = $provider and (id = any($ids::uuid[]) or object_id = any($objectIds::text[]) and provider <> 'manual')`
})
/** Stores the object id of the provider and the encrypted next step of the customer, unless they are stored already. */
export const storeProviderPaymentIdAndNextStep = statement({
  name: 'payments.set_payment_object',
  takes: { id: 'uuid', object_id: 'text', next_step: 'bytea?' },
  text: `
    update payments.payments set
      object_id = coalesce(object_id, $object_id), next_step = coalesce(next_step, $next_step), updated_at = now()
    where id = $id`
})
/**
 * Counts payments that are not settled at other providers than these: open ones, pending refunds and operations without a
 * result. Each part reads a partial index, because the start waits for it.
 */
export const countUnsettledPaymentsOfOtherProviders = statement({
  name: 'payments.count_unsettled_of_other_providers',
  takes: { providers: 'text[]' },
  gives: { provider: 'text', total: 'int8' },
  text: `
    select provider, count(*) as total
    from (
      select provider, id from payments.payments where is_open and object_id is not null
      union
      select provider, id from payments.payments where refunding > 0
      union
      select provider, payment_id from payments.operations where settled_at is null) as unsettled
    where provider <> all($providers::text[])
    group by provider order by provider`
})
/** Lists the payments of an order, oldest first. */
export const listPaymentsOfOrder = statement({
  name: 'payments.list_payments_of_order',
  takes: { order_id: 'uuid' },
  gives: payment,
  text: `select ${paymentColumns} from payments.payments where ${isOfOrderSql('$order_id')} order by id limit 200`
})
export const listPaymentPageOfOrder = statement({
  name: 'payments.list_page_of_order',
  takes: { order_id: 'uuid', after: 'uuid', limit: 'int8' },
  gives: payment,
  text: `
    select ${paymentColumns} from payments.payments
    where ${isOfOrderSql('$order_id')} and id > $after order by id limit $limit`
})
export const countPaymentsOfOrder = statement({
  name: 'payments.count_payments_of_order',
  takes: { order_id: 'uuid' },
  gives: { total: 'int4' },
  text: countUpTo(`payments.payments where ${isOfOrderSql('$order_id')}`)
})
export const listPaymentsOfCustomer = statement({
  name: 'payments.list_own_payments',
  takes: { customer_id: 'uuid', after: 'uuid', limit: 'int8' },
  gives: payment,
  text: `
    select ${paymentColumns} from payments.payments
    where customer_id = $customer_id and id < $after order by id desc limit $limit`
})
export const countPaymentsOfCustomer = statement({
  name: 'payments.count_own_payments',
  takes: { customer_id: 'uuid' },
  gives: { total: 'int4' },
  text: countUpTo('payments.payments where customer_id = $customer_id')
})
export const listFilteredPayments = statement({
  name: 'payments.list_payments',
  slow: true,
  takes: {
    status: 'text?',
    provider: 'text?',
    order_id: 'uuid?',
    expiring: 'bool',
    after: 'uuid',
    limit: 'int8'
  },
  gives: payment,
  text: `
    select ${paymentColumns} from payments.payments
    where id < $after and ($status::text is null or status = $status)
      and ($provider::text is null or provider = $provider)
      and ($order_id::uuid is null or ${isOfOrderSql('$order_id')})
      and (not $expiring::bool or authorized_until < now() + interval '1 day')
    order by id desc limit $limit`
})
/** Lists payments by the time of their last change. `at` is in microseconds since 1970. */
export const listChangedPayments = statement({
  name: 'payments.list_changed_payments',
  takes: { at: 'float8', after: 'uuid', limit: 'int8' },
  gives: { ...payment, changed_at: 'int8' },
  slow: true,
  text: `
    select ${paymentColumns}, (extract(epoch from updated_at) * 1000000)::int8 as changed_at
    from payments.payments
    where (updated_at, id) > (timestamptz 'epoch' + $at * interval '1 microsecond', $after)
    order by updated_at, id limit $limit`
})
export const countChangedPayments = statement({
  name: 'payments.count_changed_payments',
  takes: { since: 'timestamptz' },
  gives: { total: 'int4' },
  slow: true,
  text: countUpTo('payments.payments where updated_at >= $since')
})
export const countFilteredPayments = statement({
  name: 'payments.count_payments',
  slow: true,
  takes: { status: 'text?', provider: 'text?', order_id: 'uuid?', expiring: 'bool' },
  gives: { total: 'int4' },
  text: countUpTo(`payments.payments
    where ($status::text is null or status = $status) and ($provider::text is null or provider = $provider)
      and ($order_id::uuid is null or ${isOfOrderSql('$order_id')})
      and (not $expiring::bool or authorized_until < now() + interval '1 day')`)
})
export const listFactsOfPayment = statement({
  name: 'payments.list_facts',
  takes: { payment_id: 'uuid' },
  gives: {
    kind: 'text',
    object_id: 'text',
    status: 'text',
    amount: 'int8',
    currency: 'text',
    source: oneOf<'answer' | 'poll' | 'callback' | 'shop'>(),
    seen_at: 'timestamptz'
  },
  text: `
    select kind, object_id, status, amount, currency, source, seen_at from payments.facts
    where payment_id = $payment_id order by seen_at, kind, object_id limit 500`
})
const polled = {
  id: 'uuid',
  order_id: 'uuid',
  provider: 'text',
  method: 'text',
  amount: 'int8',
  currency: 'text',
  object_id: 'text?'
} as const
/** Claims payments to poll. The next poll follows after a pause that grows; the last pause repeats. */
export const claimPaymentsToPoll = statement({
  name: 'payments.claim_polls',
  takes: { provider: 'text', pauses: 'float8[]', limit: 'int8' },
  gives: polled,
  text: `
    update payments.payments set
      polls = polls + 1,
      next_poll_at = now() + make_interval(secs => ($pauses::float8[])[least(polls + 1, cardinality($pauses::float8[]))])
    where id in (
      select id from payments.payments
      where provider = $provider and is_open and object_id is not null and next_poll_at <= now()
      order by next_poll_at limit $limit for update skip locked)
    returning id, order_id, provider, method, amount, currency, object_id`
})
/** Polls waiting payments soon. Polls are spread over 20 s, to spare the provider. */
export const pollPaymentsSoon = statement({
  name: 'payments.reschedule_polls',
  takes: { provider: 'text?' },
  text: `
    update payments.payments set next_poll_at = least(next_poll_at, now() + make_interval(secs => 20 * random()))
    where is_open and object_id is not null and id in (
      select id from payments.payments
      where is_open and object_id is not null and next_poll_at > now() and polls > 0
        and ($provider::text is null or provider = $provider)
      for update skip locked)`
})
/** Claims the open payments of an order to poll now, unless they were polled within the last five seconds. */
export const claimPaymentsOfOrderToPoll = statement({
  name: 'payments.claim_refreshes',
  takes: { order_id: 'uuid', providers: 'text[]' },
  gives: polled,
  text: `
    update payments.payments set inquired_at = now()
    where ${isOfOrderSql('$order_id')} and provider = any($providers::text[]) and is_open and object_id is not null
      and (inquired_at is null or inquired_at < now() - interval '5 seconds')
    returning id, order_id, provider, method, amount, currency, object_id`
})
/** Reserves an amount to refund before the provider is called, so that concurrent refunds never exceed the captured amount. */
export const reserveRefundAmount = statement({
  name: 'payments.reserve_refund',
  takes: { id: 'uuid', amount: 'int8' },
  text: `
    update payments.payments set refunding = refunding + $amount, updated_at = now()
    where id = $id and refunded + refunding + $amount <= captured`
})
