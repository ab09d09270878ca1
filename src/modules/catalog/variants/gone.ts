import type { Chores } from '../../../platform/chores.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { deleteGoneVariants } from './repository.ts'

const SWEEP_SECONDS = 3_600
/** Longer than nearly every cart is held. Who holds them the catalog cannot know. */
const KEPT_DAYS = 365

/** Forgets what variants were called that were deleted long ago. */
export function forgetGoneVariants(chores: Pick<Chores, 'sweep'>, db: Database): void {
  chores.sweep(SWEEP_SECONDS, 'forget the names of deleted variants', () =>
    db.run(deleteGoneVariants, { days: KEPT_DAYS })
  )
}
