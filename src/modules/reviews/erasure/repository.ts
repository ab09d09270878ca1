import { statement } from '../../../platform/postgres/statement.ts'
import { columns, namesOf } from '../reviews/repository.ts'

export const listOfCustomer = statement({
  name: 'reviews.list_of_customer',
  takes: { customer_id: 'uuid' },
  gives: columns,
  text: `select ${namesOf(columns)} from reviews.reviews where customer_id = $customer_id order by id`
})
/** Removes the author from published reviews. They stay public and in the rating. */
export const anonymiseReviews = statement({
  name: 'reviews.anonymise_published',
  takes: { customer_id: 'uuid' },
  text: `
    update reviews.reviews set customer_id = null, author = null, version = version + 1
    where customer_id = $customer_id and status = 'published'`
})
export const deleteUnpublished = statement({
  name: 'reviews.delete_unpublished_of_customer',
  takes: { customer_id: 'uuid' },
  text: `delete from reviews.reviews where customer_id = $customer_id and status <> 'published'`
})
export const deleteTurnedDown = statement({
  name: 'reviews.delete_turned_down_of_customer',
  takes: { customer_id: 'uuid' },
  text: 'delete from reviews.turned_down where customer_id = $customer_id'
})
