import { countUpTo } from '../../../platform/postgres/counting.ts'
import { oneOf, type RowOf, statement } from '../../../platform/postgres/statement.ts'
import { isOfOrderSql } from '../facts/payments-of-order.ts'
import type { PaymentOperationKind } from '../providers/port.ts'

const kind = oneOf<PaymentOperationKind>()
const state = oneOf<'started' | 'unknown' | 'succeeded' | 'failed'>()

/**
 * Inserts operations. The process that inserts them sends them after the commit; the reconciler sends the ones that were not
 * sent. The request bytes are built on the first send. Operations with a stored id stay as they are.
 */
export const insertPaymentOperations = statement({
  name: 'payments.insert_operations',
  takes: {
    ids: 'uuid[]',
    paymentIds: 'uuid[]',
    kind,
    amounts: 'int8[]',
    reason: 'text?',
    actor: 'uuid?'
  },
  text: `
    insert into payments.operations
      (id, payment_id, order_id, provider, kind, amount, reason, actor, next_check_at)
    select wanted.id, payments.id, payments.order_id, payments.provider, $kind, wanted.amount, $reason, $actor,
      now() + interval '15 seconds'
    from unnest($ids::uuid[], $paymentIds::uuid[], $amounts::int8[]) as wanted (id, payment_id, amount)
    join payments.payments on payments.id = wanted.payment_id
    on conflict (id) do nothing`
})

export const findOrderOfPaymentOperation = statement({
  name: 'payments.find_order_of_operation',
  takes: { id: 'uuid' },
  gives: { order_id: 'uuid' },
  text: 'select order_id from payments.operations where id = $id and settled_at is null'
})

const claimed = {
  id: 'uuid',
  payment_id: 'uuid',
  order_id: 'uuid',
  provider: 'text',
  kind,
  amount: 'int8',
  request: 'bytea?',
  attempts: 'int4',
  /** Seconds since the operation was first sent. */
  age_seconds: 'float8',
  method: 'text',
  total: 'int8',
  currency: 'text',
  object_id: 'text?',
  reference: 'text'
} as const
/** Claims an operation before it is sent, and sets when it is retried without a response. */
export const claimPaymentOperation = statement({
  name: 'payments.claim_operation',
  takes: { id: 'uuid', pauses: 'float8[]' },
  gives: claimed,
  text: `
    update payments.operations set
      attempts = operations.attempts + 1, sent_at = coalesce(sent_at, now()),
      next_check_at = now() + make_interval(secs => ($pauses::float8[])[least(operations.attempts + 1, cardinality($pauses::float8[]))])
    from payments.payments
    where operations.id = $id and settled_at is null and payments.id = operations.payment_id
    returning operations.id, operations.payment_id, operations.order_id, operations.provider, operations.kind,
      operations.amount, operations.request, operations.attempts,
      extract(epoch from now() - sent_at)::float8 as age_seconds,
      payments.method, payments.amount as total, payments.currency, payments.object_id,
      coalesce((select accounts.reference from payments.accounts where accounts.order_id = operations.order_id),
        operations.order_id::text) as reference`
})
export type ClaimedPaymentOperation = RowOf<typeof claimPaymentOperation>

export const storePaymentOperationRequest = statement({
  name: 'payments.store_request',
  takes: { id: 'uuid', request: 'bytea' },
  text: 'update payments.operations set request = $request where id = $id and request is null'
})
export const settlePaymentOperation = statement({
  name: 'payments.settle_operation',
  takes: { id: 'uuid', state, object_id: 'text?', error: 'text?' },
  text: `
    update payments.operations set
      state = $state, object_id = coalesce($object_id, object_id), error = $error, settled_at = now(),
      next_check_at = null, request = null
    where id = $id and settled_at is null`
})
export const markPaymentOperationResultUnknown = statement({
  name: 'payments.mark_unknown',
  takes: { id: 'uuid', error: 'text' },
  text: `
    update payments.operations set state = 'unknown', error = $error where id = $id and settled_at is null`
})
/** Fails the unsent operations of a canceled order, and returns them. */
export const failUnsentOperationsOfCanceledOrder = statement({
  name: 'payments.fail_unsent',
  takes: { order_id: 'uuid' },
  gives: { payment_id: 'uuid', kind },
  text: `
    update payments.operations set
      state = 'failed', error = 'the order was canceled first', settled_at = now(), next_check_at = null,
      request = null
    from payments.payments
    where ${isOfOrderSql('$order_id')} and payment_id = payments.id
      and settled_at is null and sent_at is null and kind in ('create', 'capture')
    returning payment_id, kind`
})

/** Claims due operations: their next check is moved, so that no other worker claims them. */
export const claimDuePaymentOperations = statement({
  name: 'payments.claim_due_operations',
  takes: { provider: 'text', limit: 'int8' },
  gives: { id: 'uuid', age_seconds: 'float8' },
  text: `
    update payments.operations set next_check_at = now() + interval '15 seconds'
    where id in (
      select id from payments.operations
      where provider = $provider and settled_at is null and next_check_at <= now()
      order by next_check_at limit $limit for update skip locked)
    returning id, extract(epoch from now() - created_at)::float8 as age_seconds`
})
/** Whether an operation, a payment to poll or a callback of these providers is due. */
export const existsPaymentWorkDue = statement({
  name: 'payments.exists_due',
  takes: { providers: 'text[]', polled: 'text[]' },
  gives: { is_due: 'bool' },
  text: `
    select exists (select from payments.events where next_check_at <= now()) or exists (
      select from payments.operations
      where provider = any ($providers) and settled_at is null and next_check_at <= now()
    ) or exists (
      select from payments.payments
      where provider = any ($polled) and is_open and object_id is not null and next_poll_at <= now()
    ) as is_due`
})
/** Claims the next operation of a provider, due or not, to probe whether the provider has recovered. */
export const claimPaymentOperationToProbeProvider = statement({
  name: 'payments.claim_probe',
  takes: { provider: 'text' },
  gives: { id: 'uuid' },
  text: `
    update payments.operations set next_check_at = now() + interval '15 seconds'
    where id in (
      select id from payments.operations where provider = $provider and settled_at is null
      order by next_check_at limit 1 for update skip locked)
    returning id`
})
/**
 * Retries waiting operations soon, spread over 20 s to spare the provider. Skips locked rows, because another
 * worker is processing them.
 */
export const retryPaymentOperationsSoon = statement({
  name: 'payments.reschedule_operations',
  takes: { provider: 'text?' },
  text: `
    update payments.operations set next_check_at = now() + make_interval(secs => 20 * random())
    where settled_at is null and id in (
      select id from payments.operations
      where settled_at is null and attempts > 0 and ($provider::text is null or provider = $provider)
      for update skip locked)`
})
/** Lists the open operations of an order, for a caller that waits for their results. */
export const listOpenPaymentOperationsOfOrder = statement({
  name: 'payments.list_open_operations_of',
  takes: { order_id: 'uuid' },
  gives: { id: 'uuid' },
  text: `
    select operations.id from payments.payments join payments.operations on payment_id = payments.id
    where ${isOfOrderSql('$order_id')} and settled_at is null order by operations.created_at, operations.id`
})

const operationColumns = {
  id: 'uuid',
  payment_id: 'uuid',
  order_id: 'uuid',
  provider: 'text',
  kind,
  amount: 'int8',
  state,
  object_id: 'text?',
  error: 'text?',
  reason: 'text?',
  actor: 'uuid?',
  attempts: 'int4',
  sent_at: 'timestamptz?',
  next_check_at: 'timestamptz?',
  settled_at: 'timestamptz?',
  created_at: 'timestamptz'
} as const
const operationColumnNames = Object.keys(operationColumns).join(', ')
export const listOperationsOfPayment = statement({
  name: 'payments.list_operations',
  takes: { payment_id: 'uuid' },
  gives: operationColumns,
  text: `
    select ${operationColumnNames} from payments.operations where payment_id = $payment_id order by created_at, id limit 500`
})
/** Lists the operations of all payments that have no result, oldest first. */
export const listOpenPaymentOperations = statement({
  name: 'payments.list_open_operations',
  slow: true,
  takes: { after: 'uuid', limit: 'int8' },
  gives: operationColumns,
  text: `
    select ${operationColumnNames} from payments.operations where settled_at is null and id > $after order by id limit $limit`
})
export const countOpenPaymentOperations = statement({
  name: 'payments.count_open_operations',
  gives: { total: 'int4' },
  text: countUpTo('payments.operations where settled_at is null')
})
export const measureOpenPaymentOperations = statement({
  name: 'payments.measure_open_operations',
  gives: { total: 'int8', oldest_seconds: 'float8' },
  text: `
    select count(*) as total, coalesce(extract(epoch from now() - min(created_at)), 0)::float8 as oldest_seconds
    from payments.operations where settled_at is null`
})
