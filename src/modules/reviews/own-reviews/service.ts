import { found } from '../../../kernel/errors.ts'
import type { EventSubject } from '../../../kernel/events.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { OrdersApi } from '../../orders/index.ts'
import { reviewNotFoundError, reviewPurchaseNeededError, reviewStaleError } from '../errors.ts'
import { reviewSubmittedEvent } from '../events.ts'
import type { PublishReviewChange } from '../reviews/record-change.ts'
import * as repository from '../reviews/repository.ts'
import type { OwnReviewResponse } from '../reviews/schema.ts'
import { type ReviewStatus, reviewStatusAfterWrite } from '../reviews/status.ts'
import { normalizeReviewInput, publicAuthorName } from '../reviews/texts.ts'
import { ownReviewView } from '../reviews/view.ts'
import type { ReviewRequest } from './schema.ts'

type Deps = {
  db: Database
  emit: Emit
  recordChange: PublishReviewChange
  catalog: Pick<CatalogApi, 'requireProduct'>
  /** Absent in a shop without accounts: then authors have no names. */
  auth: Pick<AuthApi, 'contacts'> | undefined
  /** Absent in a shop without orders: then no purchase can be verified. */
  orders: Pick<OrdersApi, 'findPurchased'> | undefined
  rules: { readonly allowed_authors: 'customers' | 'buyers'; readonly moderation: 'none' | 'before' }
}
type ReviewKey = { readonly customer_id: string; readonly product_id: string }
type ReviewText = ReturnType<typeof normalizeReviewInput>

/**
 * Reads and writes the reviews of the calling customer: at most one per product, addressed by the product.
 */
export function createOwnReviewService({ db, emit, recordChange, catalog, auth, orders, rules }: Deps) {
  const reviewKeyOf = async (customer_id: string, idOrSlug: string): Promise<ReviewKey> => ({
    customer_id,
    product_id: await catalog.requireProduct(idOrSlug)
  })
  const readOwn = async (own: ReviewKey): Promise<OwnReviewResponse> =>
    ownReviewView(found(await db.first(repository.findOwnReview, own), reviewNotFoundError))

  /**
   * Serializes the reviews of a product in this process. They all lock the rating of the product, and would
   * otherwise wait for it on database connections that other requests need.
   */
  const serializedByProduct = ({ product_id }: ReviewKey) => db.serializedBy(`review of ${product_id}`)

  async function hasBought(tx: Transaction, { customer_id, product_id }: ReviewKey): Promise<boolean> {
    return (await orders?.findPurchased(tx, customer_id, [product_id]))?.has(product_id) ?? false
  }
  async function nextStatus(
    tx: Transaction,
    own: ReviewKey,
    before: ReviewStatus | null
  ): Promise<ReviewStatus> {
    const { found: wasRejected = false } = (await tx.first(repository.existsReviewRejectionRecord, own)) ?? {}
    return reviewStatusAfterWrite(before, { moderation: rules.moderation, wasRejected })
  }
  async function readReviewText(customerId: string, body: ReviewRequest): Promise<ReviewText> {
    const text = normalizeReviewInput(body)
    if (text.author !== null) return text
    const [contact] = (await auth?.contacts([customerId])) ?? []
    return { ...text, author: publicAuthorName(contact?.name ?? null) }
  }
  const emitSubmitted = (
    tx: Transaction,
    subject: EventSubject<true>,
    own: ReviewKey,
    status: ReviewStatus
  ) => emit(tx, reviewSubmittedEvent, subject, { review_id: subject.id, ...own, status })

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `REVIEW_NOT_FOUND` */
  async function read(customerId: string, idOrSlug: string): Promise<OwnReviewResponse> {
    return readOwn(await reviewKeyOf(customerId, idOrSlug))
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `REVIEW_EXISTS`, `REVIEW_PURCHASE_NEEDED` */
  async function create(
    customerId: string,
    idOrSlug: string,
    body: ReviewRequest,
    write: IdempotentWrite
  ): Promise<OwnReviewResponse> {
    const own = await reviewKeyOf(customerId, idOrSlug)
    const text = await readReviewText(customerId, body)
    const { id } = write
    await write.once(serializedByProduct(own), async tx => {
      await tx.run(repository.lockReviewWritesOfCustomers, { customer_ids: [customerId] })
      const verified_purchase = await hasBought(tx, own)
      if (rules.allowed_authors === 'buyers' && !verified_purchase) throw reviewPurchaseNeededError()
      const status = await nextStatus(tx, own, null)
      const inserted = { id, ...own, ...text, verified_purchase, status }
      const { version } = found(await tx.first(repository.insertReview, inserted), reviewNotFoundError)
      recordChange(tx, { id, ...own }, null, { status, rating: text.rating, version })
      emitSubmitted(tx, { id, version }, own, status)
    })
    return readOwn(own)
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `REVIEW_NOT_FOUND`, `REVIEW_STALE` */
  async function replace(
    customerId: string,
    idOrSlug: string,
    body: ReviewRequest,
    write: IdempotentWrite
  ): Promise<OwnReviewResponse> {
    const own = await reviewKeyOf(customerId, idOrSlug)
    const text = await readReviewText(customerId, body)
    await write.once(serializedByProduct(own), async tx => {
      await tx.run(repository.lockReviewWritesOfCustomers, { customer_ids: [customerId] })
      const before = found(await tx.first(repository.lockOwnReview, own), reviewNotFoundError)
      write.expect(before.version, reviewStaleError)
      if (isSameText(before, text)) return
      const { id } = before
      const verified_purchase = await hasBought(tx, own)
      const status = await nextStatus(tx, own, before.status)
      const changed = { id, ...text, verified_purchase, status }
      const { version } = found(await tx.first(repository.updateReviewText, changed), reviewNotFoundError)
      recordChange(tx, before, before, { status, rating: text.rating, version })
      emitSubmitted(tx, { id, version }, own, status)
    })
    return readOwn(own)
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `REVIEW_NOT_FOUND`, `REVIEW_STALE` */
  async function remove(customerId: string, idOrSlug: string, write: IdempotentWrite): Promise<void> {
    const own = await reviewKeyOf(customerId, idOrSlug)
    await write.once(serializedByProduct(own), async tx => {
      const before = found(await tx.first(repository.lockOwnReview, own), reviewNotFoundError)
      write.expect(before.version, reviewStaleError)
      await tx.run(repository.deleteReview, before)
      recordChange(tx, before, before, null)
    })
  }

  return { read, create, replace, remove }
}
export type OwnReviewService = ReturnType<typeof createOwnReviewService>

const isSameText = (row: ReviewText, text: ReviewText) =>
  row.rating === text.rating &&
  row.title === text.title &&
  row.body === text.body &&
  row.author === text.author
