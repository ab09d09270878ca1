import { found } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { OrdersApi } from '../../orders/index.ts'
import { purchaseNeeded, reviewNotFound, reviewStale } from '../errors.ts'
import { reviewSubmitted } from '../events.ts'
import type { Changed } from '../reviews/changes.ts'
import * as repository from '../reviews/repository.ts'
import type { OwnReviewResponse } from '../reviews/schema.ts'
import { type Status, statusOfWritten } from '../reviews/status.ts'
import { displayName, tidied } from '../reviews/texts.ts'
import { presentOwn } from '../reviews/view.ts'
import type { ReviewRequest } from './schema.ts'

type Deps = {
  db: Database
  emit: Emit
  changed: Changed
  catalog: Pick<CatalogApi, 'requireProduct'>
  /** Absent: nobody has a name. */
  auth: Pick<AuthApi, 'contacts'> | undefined
  /** Absent: nobody has bought anything. */
  orders: Pick<OrdersApi, 'bought'> | undefined
  rules: { readonly who: 'anyone' | 'buyers'; readonly moderation: 'none' | 'before' }
}
type Own = { readonly customer_id: string; readonly product_id: string }
type Words = ReturnType<typeof tidied>

/** What customers do with their own reviews: one of each product, named by that product alone. */
export function createOwnReviewService({ db, emit, changed, catalog, auth, orders, rules }: Deps) {
  const ownOf = async (customer_id: string, idOrSlug: string): Promise<Own> => ({
    customer_id,
    product_id: await catalog.requireProduct(idOrSlug)
  })
  const show = async (own: Own): Promise<OwnReviewResponse> =>
    presentOwn(found(await db.first(repository.findOwn, own), reviewNotFound))

  /** All who review a product want the row of its rating: they wait here, and not on connections that others need. */
  const ofProduct = ({ product_id }: Own) => db.inTurn(`review of ${product_id}`)

  async function hasBought(tx: Transaction, { customer_id, product_id }: Own): Promise<boolean> {
    return (await orders?.bought(tx, customer_id, [product_id]))?.has(product_id) ?? false
  }
  async function statusNow(tx: Transaction, own: Own, before: Status | null): Promise<Status> {
    const { found: wasTurnedDown = false } = (await tx.first(repository.findTurnedDown, own)) ?? {}
    return statusOfWritten(before, { moderation: rules.moderation, wasTurnedDown })
  }
  async function wordsOf(customerId: string, body: ReviewRequest): Promise<Words> {
    const words = tidied(body)
    if (words.author !== null) return words
    const [contact] = (await auth?.contacts([customerId])) ?? []
    return { ...words, author: displayName(contact?.name ?? null) }
  }
  const submitted = (tx: Transaction, id: string, own: Own, status: Status) =>
    emit(tx, reviewSubmitted, id, { review_id: id, ...own, status })

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `REVIEW_NOT_FOUND` */
  async function read(customerId: string, idOrSlug: string): Promise<OwnReviewResponse> {
    return show(await ownOf(customerId, idOrSlug))
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `REVIEW_EXISTS`, `REVIEW_PURCHASE_NEEDED` */
  async function create(
    customerId: string,
    idOrSlug: string,
    body: ReviewRequest,
    write: Write
  ): Promise<OwnReviewResponse> {
    const own = await ownOf(customerId, idOrSlug)
    const words = await wordsOf(customerId, body)
    const { id } = write
    await write.once(ofProduct(own), async tx => {
      await tx.run(repository.lockCustomers, { customer_ids: [customerId] })
      const verified_purchase = await hasBought(tx, own)
      if (rules.who === 'buyers' && !verified_purchase) throw purchaseNeeded()
      const status = await statusNow(tx, own, null)
      await tx.run(repository.insertReview, { id, ...own, ...words, verified_purchase, status })
      changed(tx, { id, ...own }, null, { status, rating: words.rating })
      submitted(tx, id, own, status)
    })
    return show(own)
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `REVIEW_NOT_FOUND`, `REVIEW_STALE` */
  async function replace(
    customerId: string,
    idOrSlug: string,
    body: ReviewRequest,
    write: Write
  ): Promise<OwnReviewResponse> {
    const own = await ownOf(customerId, idOrSlug)
    const words = await wordsOf(customerId, body)
    await write.once(ofProduct(own), async tx => {
      await tx.run(repository.lockCustomers, { customer_ids: [customerId] })
      const before = found(await tx.first(repository.lockOwn, own), reviewNotFound)
      write.expect(before.version, reviewStale)
      if (saysTheSame(before, words)) return
      const { id } = before
      const verified_purchase = await hasBought(tx, own)
      const status = await statusNow(tx, own, before.status)
      await tx.run(repository.updateWritten, { id, ...words, verified_purchase, status })
      changed(tx, before, before, { status, rating: words.rating })
      submitted(tx, id, own, status)
    })
    return show(own)
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `REVIEW_NOT_FOUND`, `REVIEW_STALE` */
  async function remove(customerId: string, idOrSlug: string, write: Write): Promise<void> {
    const own = await ownOf(customerId, idOrSlug)
    await write.once(ofProduct(own), async tx => {
      const before = found(await tx.first(repository.lockOwn, own), reviewNotFound)
      write.expect(before.version, reviewStale)
      await tx.run(repository.deleteReview, before)
      changed(tx, before, before, null)
    })
  }

  return { read, create, replace, remove }
}
export type OwnReviewService = ReturnType<typeof createOwnReviewService>

const saysTheSame = (row: Words, words: Words) =>
  row.rating === words.rating &&
  row.title === words.title &&
  row.body === words.body &&
  row.author === words.author
