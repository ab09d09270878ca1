import { statement } from '../../../platform/postgres/statement.ts'

/** Lists payments whose authorization expires within a day and was not reported yet. */
export const listExpiringAuthorizations = statement({
  name: 'payments.list_expiring',
  takes: { limit: 'int8' },
  gives: { id: 'uuid', order_id: 'uuid' },
  text: `
    select id, order_id from payments.payments
    where authorized_until < now() + interval '1 day' and expiry_noted_at is null
    order by authorized_until limit $limit`
})
/** Marks an expiry as reported. Returns no row when another worker did, or when the payment is captured or voided by now. */
export const markAuthorizationExpiryReported = statement({
  name: 'payments.mark_expiry_reported',
  takes: { id: 'uuid' },
  gives: { provider: 'text', authorized: 'int8', authorized_until: 'timestamptz?', is_busy: 'bool' },
  text: `
    update payments.payments set expiry_noted_at = now()
    where id = $id and expiry_noted_at is null and authorized_until < now() + interval '1 day'
    returning provider, authorized, authorized_until, exists (
      select from payments.operations
      where payment_id = payments.id and settled_at is null and kind in ('capture', 'void')) as is_busy`
})
