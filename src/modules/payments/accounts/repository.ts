import { statement } from '../../../platform/postgres/statement.ts'
import { isOfOrderSql } from '../facts/payments-of-order.ts'

export const insertOrderPaymentAccount = statement({
  name: 'payments.insert_account',
  takes: {
    order_id: 'uuid',
    customer_id: 'uuid?',
    currency: 'text',
    due: 'int8',
    committed: 'int8',
    token_version: 'int4',
    reference: 'text'
  },
  gives: { at: 'int8' },
  forEach: true,
  text: `
    with new as materialized (select * from $each),
    made as (
      insert into payments.accounts (order_id, customer_id, currency, due, committed, token_version, reference, status)
      select order_id, customer_id, currency, due, committed, token_version, reference, case when due = 0 then 'paid' else 'unpaid' end
      from new returning order_id
    )
    select at from new join made using (order_id)`
})
export const freezeOrderPaymentAccount = statement({
  name: 'payments.freeze_account',
  takes: { order_id: 'uuid' },
  text: `update payments.accounts set frozen_at = coalesce(frozen_at, now()) where order_id = $order_id`
})
export const unfreezeOrderPaymentAccount = statement({
  name: 'payments.thaw_account',
  takes: { order_id: 'uuid' },
  text: 'update payments.accounts set frozen_at = null where order_id = $order_id'
})
export const updatePaymentAccountAmountDue = statement({
  name: 'payments.update_due',
  takes: { order_id: 'uuid', due: 'int8' },
  text: 'update payments.accounts set due = $due where order_id = $order_id'
})
/** Raises the token version, which invalidates earlier tokens of the order. */
export const raiseOrderTokenVersion = statement({
  name: 'payments.reissue_account',
  takes: { order_id: 'uuid', customer_id: 'uuid?' },
  gives: { token_version: 'int4' },
  text: `
    update payments.accounts set token_version = token_version + 1, customer_id = coalesce($customer_id, customer_id)
    where order_id = $order_id returning token_version`
})
export const assignPaymentsToCustomer = statement({
  name: 'payments.assign_payments_to_customer',
  takes: { order_id: 'uuid', customer_id: 'uuid' },
  text: `
    update payments.payments set customer_id = $customer_id, updated_at = now()
    where ${isOfOrderSql('$order_id')}`
})
