import { statement } from '../../../platform/postgres/statement.ts'
import { isOfOrderSql } from '../facts/payments-of-order.ts'

/** Locks in the order of ids, so that concurrent erasures do not deadlock. */
export const lockOrderPaymentAccounts = statement({
  name: 'payments.lock_accounts',
  takes: { order_ids: 'uuid[]' },
  text: 'select from payments.accounts where order_id = any ($order_ids) order by order_id for update'
})
export const eraseOrderPaymentAccountOwners = statement({
  name: 'payments.erase_accounts',
  takes: { order_ids: 'uuid[]' },
  text: `
    update payments.accounts set customer_id = null, token_version = token_version + 1
    where order_id = any ($order_ids)`
})
export const erasePaymentOwners = statement({
  name: 'payments.erase_payments',
  takes: { order_ids: 'uuid[]' },
  text: `
    update payments.payments set customer_id = null, next_step = null, updated_at = now()
    where ${isOfOrderSql('any ($order_ids)')}`
})
/** Erases the reasons that administrators wrote. Open requests stay, because retries need them. */
export const erasePaymentOperationReasons = statement({
  name: 'payments.erase_operations',
  takes: { customer_id: 'uuid?', order_ids: 'uuid[]' },
  text: `
    update payments.operations set reason = case when actor is null then reason end, actor = nullif(actor, $customer_id)
    from payments.payments where ${isOfOrderSql('any ($order_ids)')} and payment_id = payments.id`
})
/** Erases the bytes of handled events, because they can contain names and addresses. Waiting events still need theirs. */
export const eraseProviderEventBytes = statement({
  name: 'payments.erase_events',
  takes: { order_ids: 'uuid[]' },
  text: `
    delete from payments.event_bytes where event_id in (
      select id from payments.events
      where state in ('applied', 'ignored', 'discarded')
        and payment_id in (select id from payments.payments where ${isOfOrderSql('any ($order_ids)')}))`
})
const exportedPaymentColumns = {
  id: 'uuid',
  order_id: 'uuid',
  provider: 'text',
  method: 'text',
  amount: 'int8',
  currency: 'text',
  status: 'text',
  created_at: 'timestamptz'
} as const
export const exportPaymentsOfOrders = statement({
  name: 'payments.export_payments_of_orders',
  takes: { order_ids: 'uuid[]' },
  gives: exportedPaymentColumns,
  text: `
    select ${Object.keys(exportedPaymentColumns).join(', ')} from payments.payments
    where ${isOfOrderSql('any ($order_ids)')} order by id`
})
export const exportPaymentsOfCustomer = statement({
  name: 'payments.export_payments_of_customer',
  takes: { customer_id: 'uuid' },
  gives: exportedPaymentColumns,
  text: `
    select ${Object.keys(exportedPaymentColumns).join(', ')} from payments.payments where customer_id = $customer_id order by id`
})
