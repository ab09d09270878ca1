import { statement } from '../../../platform/postgres/statement.ts'
import { newPaymentColumns } from './repository.ts'

const insertPaymentSql = `
    insert into payments.payments (id, order_id, customer_id, provider, method, amount, currency, network)
    values ($id, $order_id, $customer_id, $provider, $method, $amount, $currency, $network)`
export const insertPayment = statement({
  name: 'payments.insert_payment',
  takes: newPaymentColumns,
  text: insertPaymentSql
})
/**
 * Inserts a payment whose provider has responded that it is pending, with that fact and its first operation, which has the same
 * id. `next_step` is base64.
 */
export const insertPendingPayment = statement({
  name: 'payments.insert_pending_payment',
  takes: {
    ...newPaymentColumns,
    object: 'text',
    next_step: 'text?',
    fact_object: 'text',
    fact_rank: 'int4',
    fact_amount: 'int8'
  },
  gives: { at: 'int8' },
  forEach: true,
  text: `
    with new as materialized (select * from $each),
    payment as (
      insert into payments.payments
        (id, order_id, customer_id, provider, method, amount, currency, network, object_id, next_step)
      select id, order_id, customer_id, provider, method, amount, currency, network, object, decode(next_step, 'base64') from new
    ), fact as (
      insert into payments.facts (provider, kind, object_id, payment_id, rank, status, amount, currency, source)
      select provider, 'intent', fact_object, id, fact_rank, 'pending', fact_amount, currency, 'answer' from new
    ), operation as (
      insert into payments.operations
        (id, payment_id, order_id, provider, kind, amount, state, object_id, attempts, sent_at, settled_at)
      select id, id, order_id, provider, 'create', amount, 'succeeded', fact_object, 1, now(), now() from new
    )
    select at from new`
})
/** Inserts a payment with its first operation, which has the same id and is sent after the commit. */
export const insertSentPayment = statement({
  name: 'payments.insert_sent_payment',
  takes: { ...newPaymentColumns, request: 'bytea' },
  text: `
    with payment as (${insertPaymentSql})
    insert into payments.operations
      (id, payment_id, order_id, provider, kind, amount, request, attempts, sent_at, next_check_at)
    values ($id, $id, $order_id, $provider, 'create', $amount, $request, 1, now(), now() + interval '15 seconds')`
})
