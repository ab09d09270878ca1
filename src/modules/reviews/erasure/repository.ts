import { statement } from '../../../platform/postgres/statement.ts'
import { columnNamesOf, reviewColumns } from '../reviews/repository.ts'

export const listReviewsOfCustomer = statement({
  name: 'reviews.list_of_customer',
  takes: { customer_id: 'uuid' },
  gives: reviewColumns,
  text: `select ${columnNamesOf(reviewColumns)} from reviews.reviews where customer_id = $customer_id order by id`
})
/** Removes the author from published reviews. They stay public and in the rating. */
export const anonymizePublishedReviewsOfCustomer = statement({
  name: 'reviews.anonymise_published',
  takes: { customer_id: 'uuid' },
  text: `
    update reviews.reviews set customer_id = null, author = null, metadata = '{}', private_metadata = '{}',
      version = version + 1
    where customer_id = $customer_id and status = 'published'`
})
export const deleteUnpublishedReviewsOfCustomer = statement({
  name: 'reviews.delete_unpublished_of_customer',
  takes: { customer_id: 'uuid' },
  text: `delete from reviews.reviews where customer_id = $customer_id and status <> 'published'`
})
export const deleteReviewRejectionRecordsOfCustomer = statement({
  name: 'reviews.delete_turned_down_of_customer',
  takes: { customer_id: 'uuid' },
  text: 'delete from reviews.turned_down where customer_id = $customer_id'
})
