import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { reviewPublished } from '../events.ts'
import type { Ratings } from '../ratings/service.ts'
import type { Status } from './status.ts'

type About = { readonly id: string; readonly product_id: string; readonly customer_id: string | null }
type State = { readonly status: Status; readonly rating: number }
type Deps = { ratings: Pick<Ratings, 'count'>; emit: Emit }

const starsOf = (state: State | null) => (state?.status === 'published' ? state.rating : null)

/**
 * Whoever changes a review says so here, within the transaction: what it was and what it is now, null for not at all.
 * Everything that rests on reviews follows from it.
 */
export function createChanges({ ratings, emit }: Deps) {
  return (
    tx: Transaction,
    { id, product_id, customer_id }: About,
    before: State | null,
    after: State | null
  ) => {
    ratings.count(tx, product_id, starsOf(before), starsOf(after))
    if (after?.status === 'published' && before?.status !== 'published')
      emit(tx, reviewPublished, id, { review_id: id, product_id, customer_id })
  }
}
export type Changed = ReturnType<typeof createChanges>
