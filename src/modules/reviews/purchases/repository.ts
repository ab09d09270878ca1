import { statement } from '../../../platform/postgres/statement.ts'

export const listReviewsOfCustomers = statement({
  name: 'reviews.list_reviewed_by_customers',
  takes: { customer_ids: 'uuid[]' },
  gives: { id: 'uuid', customer_id: 'uuid?', product_id: 'uuid' },
  text: `
    select id, customer_id, product_id from reviews.reviews
    where customer_id = any ($customer_ids) order by customer_id, id`
})
/** Sets whether each of these reviews is a verified purchase: those in `verified` are. */
export const setVerifiedPurchases = statement({
  name: 'reviews.update_verified_purchases',
  takes: { ids: 'uuid[]', verified: 'uuid[]' },
  text: `
    update reviews.reviews set verified_purchase = not verified_purchase
    where id = any ($ids) and verified_purchase <> (id = any ($verified))`
})
