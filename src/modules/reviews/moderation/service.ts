import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { reviewNotFound, reviewStale, statusForbids } from '../errors.ts'
import type { Changed } from '../reviews/changes.ts'
import * as repository from '../reviews/repository.ts'
import type { AdminReviewResponse } from '../reviews/schema.ts'
import { type Decision, NEXT } from '../reviews/status.ts'
import { presentToAdmin } from '../reviews/view.ts'
import { countReviews, listReviews } from './repository.ts'
import type { AdminReviewQuery } from './schema.ts'

type Deps = { db: Database; changed: Changed }

/** What administrators do with reviews. */
export function createModeration({ db, changed }: Deps) {
  async function list(query: AdminReviewQuery): Promise<Page<AdminReviewResponse>> {
    const { status = null, product_id = null, customer_id = null, rating = null, verified = null } = query
    const filters = { status, product_id, customer_id, rating, verified }
    const page = await readPage(query, {
      name: 'reviews',
      filters,
      ...newestFirst,
      rows: place => db.rows(listReviews, { ...filters, ...place }),
      total: () => db.first(countReviews, filters)
    })
    return { ...page, items: page.items.map(presentToAdmin) }
  }

  /** @throws `REVIEW_NOT_FOUND` */
  const read = async (id: string): Promise<AdminReviewResponse> =>
    presentToAdmin(found(await db.first(repository.findReview, { id }), reviewNotFound))

  /** Nobody else changes it until `tx` ends. */
  async function hold(tx: Transaction, id: string, write: Write): Promise<repository.ReviewRow> {
    const row = found(await tx.first(repository.lockReview, { id }), reviewNotFound)
    write.expect(row.version, reviewStale)
    return row
  }

  /** @throws `REVIEW_NOT_FOUND`, `REVIEW_STALE`, `REVIEW_STATUS_FORBIDS` */
  async function decide(
    id: string,
    decision: Decision,
    reason: string | null,
    write: Write
  ): Promise<AdminReviewResponse> {
    await write.once(db, async tx => {
      const before = await hold(tx, id, write)
      const status = NEXT[before.status][decision]
      if (status === undefined) throw statusForbids({ details: { review_status: before.status } })
      await tx.run(repository.updateDecided, { id, status, reason })
      await noteTrust(tx, before, decision === 'publish')
      changed(tx, before, before, { status, rating: before.rating })
    })
    return read(id)
  }

  /** `body`: null for none. @throws `REVIEW_NOT_FOUND`, `REVIEW_STALE` */
  async function reply(id: string, body: string | null, write: Write): Promise<AdminReviewResponse> {
    await write.once(db, async tx => {
      const before = await hold(tx, id, write)
      const text = body?.replaceAll(/\r\n?/g, '\n').trim() ?? null
      if (text !== before.reply) await tx.run(repository.updateReply, { id, reply: text })
    })
    return read(id)
  }

  /** @throws `REVIEW_NOT_FOUND`, `REVIEW_STALE` */
  async function remove(id: string, write: Write): Promise<void> {
    await write.once(db, async tx => {
      const before = await hold(tx, id, write)
      await tx.run(repository.deleteReview, { id })
      await noteTrust(tx, before, false)
      changed(tx, before, before, null)
    })
  }

  return { list, read, decide, reply, remove }
}
export type Moderation = ReturnType<typeof createModeration>

/** Whether what its author writes of the same product next is looked at first. */
async function noteTrust(
  tx: Transaction,
  { customer_id, product_id }: repository.ReviewRow,
  isTrusted: boolean
): Promise<void> {
  if (customer_id === null) return
  const note = isTrusted ? repository.deleteTurnedDown : repository.insertTurnedDown
  await tx.run(note, { customer_id, product_id })
}
