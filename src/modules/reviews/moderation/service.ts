import { found } from '../../../kernel/errors.ts'
import type { MetadataRequest } from '../../../kernel/metadata-request.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { changeMetadata } from '../../../platform/postgres/metadata.ts'
import { reviewNotFoundError, reviewStaleError, reviewStatusForbidsError } from '../errors.ts'
import type { PublishReviewChange } from '../reviews/record-change.ts'
import * as repository from '../reviews/repository.ts'
import type { AdminReviewResponse } from '../reviews/schema.ts'
import { REVIEW_STATUS_TRANSITIONS, type ReviewDecision } from '../reviews/status.ts'
import { adminReviewView } from '../reviews/view.ts'
import { countReviews, listReviews } from './repository.ts'
import type { AdminReviewQuery } from './schema.ts'

type Deps = { db: Database; recordChange: PublishReviewChange }

/** Lists, approves, rejects, answers and deletes reviews for administrators. */
export function createReviewModeration({ db, recordChange }: Deps) {
  async function list(query: AdminReviewQuery): Promise<Page<AdminReviewResponse>> {
    const { status = null, product_id = null, customer_id = null, rating = null, verified = null } = query
    const { metadata = null } = query
    const filters = { status, product_id, customer_id, rating, verified, metadata }
    const page = await readPage(query, {
      name: 'reviews',
      filters,
      ...newestFirst,
      rows: place => db.rows(listReviews, { ...filters, ...place }),
      total: () => db.first(countReviews, filters)
    })
    return { ...page, items: page.items.map(adminReviewView) }
  }

  /** @throws `REVIEW_NOT_FOUND` */
  const read = async (id: string): Promise<AdminReviewResponse> =>
    adminReviewView(found(await db.first(repository.findReview, { id }), reviewNotFoundError))

  /** Locks the review until `tx` ends. @throws `REVIEW_NOT_FOUND`, `REVIEW_STALE` */
  async function lockReview(
    tx: Transaction,
    id: string,
    write: IdempotentWrite
  ): Promise<repository.ReviewRow> {
    const row = found(await tx.first(repository.lockReview, { id }), reviewNotFoundError)
    write.expect(row.version, reviewStaleError)
    return row
  }

  /** @throws `REVIEW_NOT_FOUND`, `REVIEW_STALE`, `REVIEW_STATUS_FORBIDS` */
  async function decide(
    id: string,
    decision: ReviewDecision,
    reason: string | null,
    write: IdempotentWrite
  ): Promise<AdminReviewResponse> {
    await write.once(db, async tx => {
      const before = await lockReview(tx, id, write)
      const status = REVIEW_STATUS_TRANSITIONS[before.status][decision]
      if (status === undefined) throw reviewStatusForbidsError({ details: { review_status: before.status } })
      const decided = await tx.first(repository.updateReviewDecision, { id, status, reason })
      const { version } = found(decided, reviewNotFoundError)
      await recordTrust(tx, before, decision === 'publish')
      recordChange(tx, before, before, { status, rating: before.rating, version })
    })
    return read(id)
  }

  /** Sets the reply of the shop; a null `body` deletes it. @throws `REVIEW_NOT_FOUND`, `REVIEW_STALE` */
  async function reply(
    id: string,
    body: string | null,
    write: IdempotentWrite
  ): Promise<AdminReviewResponse> {
    await write.once(db, async tx => {
      const before = await lockReview(tx, id, write)
      const text = body?.replaceAll(/\r\n?/g, '\n').trim() ?? null
      if (text !== before.reply) await tx.run(repository.updateReviewReply, { id, reply: text })
    })
    return read(id)
  }

  /** @throws `REVIEW_NOT_FOUND`, `REVIEW_STALE`, `METADATA_LIMIT` */
  async function updateMetadata(
    id: string,
    changes: MetadataRequest,
    write: IdempotentWrite
  ): Promise<AdminReviewResponse> {
    await write.once(db, async tx => {
      await lockReview(tx, id, write)
      await changeMetadata(tx, repository.updateReviewMetadata, { ...changes, id })
    })
    return read(id)
  }

  /** @throws `REVIEW_NOT_FOUND`, `REVIEW_STALE` */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      const before = await lockReview(tx, id, write)
      await tx.run(repository.deleteReview, { id })
      await recordTrust(tx, before, false)
      recordChange(tx, before, before, null)
    })
  }

  return { list, read, decide, reply, updateMetadata, remove }
}
export type ReviewModeration = ReturnType<typeof createReviewModeration>

/** Records whether the author's next review of the same product is published without approval. */
async function recordTrust(
  tx: Transaction,
  { customer_id, product_id }: repository.ReviewRow,
  isTrusted: boolean
): Promise<void> {
  if (customer_id === null) return
  const note = isTrusted ? repository.deleteReviewRejectionRecord : repository.insertReviewRejectionRecord
  await tx.run(note, { customer_id, product_id })
}
