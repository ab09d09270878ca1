import { defineJob } from '../../../kernel/events.ts'
import { FIRST_ID } from '../../../kernel/ids.ts'
import { Id } from '../../../kernel/wire.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { crossingsOf } from '../stock/crossings.ts'
import { itemOf, type Tell } from '../writer/batch.ts'
import type { Kits } from '../writer/kits.ts'
import { listItemsAt } from './repository.ts'

export const announceLocation = defineJob(
  'inventory.announce_location',
  {
    description: 'Announces what a location that was put in or out of use makes of its stock.',
    seconds: 600
  },
  { location_id: Id }
)

const PAGE_ITEMS = 500

type Deps = { db: Pick<Database, 'transaction'>; kits: Pick<Kits, 'of'>; tell: Pick<Tell, 'crossed'> }

/**
 * Announces what can be bought, or no more, since a location was put in or out of use. A page of its items at a time, as
 * they are then: done twice, it says the same twice.
 */
export async function announceItemsAt(deps: Deps, locationId: string, signal: AbortSignal): Promise<void> {
  let last = await announcePage(deps, locationId, FIRST_ID)
  while (last !== undefined) {
    signal.throwIfAborted()
    last = await announcePage(deps, locationId, last)
  }
}

/** Answers the last item when there may be more. */
async function announcePage(
  { db, kits, tell }: Deps,
  locationId: string,
  after: string
): Promise<string | undefined> {
  const kitsOf = await kits.of()
  return db.transaction(async tx => {
    const rows = await tx.rows(listItemsAt, { locationId, after, limit: PAGE_ITEMS })
    for (const { levels: now, ...row } of rows) {
      const before = now.map(level => (level.isHere ? { ...level, active: !level.active } : level))
      for (const crossing of crossingsOf(itemOf(row), kitsOf.get(row.id), { before, now }))
        tell.crossed(tx, crossing)
    }
    return rows.length < PAGE_ITEMS ? undefined : rows.at(-1)?.id
  })
}
