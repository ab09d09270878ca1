import type { Tiers } from '../../gateway/routing/tiers.ts'
import type { JobDelivery } from '../../kernel/events.ts'
import { extendResource } from '../../kernel/resources.ts'
import { defineModule, provideField } from '../../module.ts'
import { createMetadataCommand, type UpdateMetadata } from '../../platform/metadata-command.ts'
import type { Transaction } from '../../platform/postgres/database.ts'
import { authModule } from '../auth/index.ts'
import { catalogModule, productResource } from '../catalog/index.ts'
import {
  orderCanceledEvent,
  orderClaimedEvent,
  orderCreditedEvent,
  orderPlacedEvent,
  ordersModule
} from '../orders/index.ts'
import { reviewPersonalData } from './erasure/service.ts'
import { reviewPublishedEvent, reviewSubmittedEvent } from './events.ts'
import { reviewModerationRoutes } from './moderation/routes.ts'
import { createReviewModeration } from './moderation/service.ts'
import { ownReviewRoutes } from './own-reviews/routes.ts'
import { createOwnReviewService } from './own-reviews/service.ts'
import { updateVerifiedPurchases } from './purchases/subscriber.ts'
import { repairProductRatings } from './ratings/check.ts'
import { checkProductRatingsJob } from './ratings/jobs.ts'
import { ProductRatingResponse } from './ratings/schema.ts'
import { createProductRatingService } from './ratings/service.ts'
import { createReviewChangePublisher } from './reviews/record-change.ts'
import type { OwnReviewResponse } from './reviews/schema.ts'
import { reviewsSettings } from './settings.ts'
import { reviewStorefrontRoutes } from './storefront/routes.ts'
import { createReviewStorefront } from './storefront/service.ts'

export { reviewPublishedEvent, reviewSubmittedEvent } from './events.ts'

/** The API of reviews for other modules. */
export type ReviewsApi = {
  /**
   * Erases the customer's personal data: published reviews stay without an author, all others are deleted.
   * Does nothing when the customer was erased before.
   * @example
   * await db.transaction(tx => reviews.erase(tx, customerId))
   * assert.deepEqual(await reviews.export(customerId), [])
   */
  erase(tx: Transaction, customerId: string): Promise<void>
  /**
   * Returns all reviews of the customer, in the form of their own API.
   * @example
   * assert.deepEqual(await reviews.export(customerId), [])
   */
  export(customerId: string): Promise<OwnReviewResponse[]>
  /**
   * Changes the metadata of a review. @throws `REVIEW_NOT_FOUND`, `METADATA_LIMIT`, `METADATA_INVALID`
   * @example
   * const change = { private_metadata: { ticket: 'A7' } }
   * const updated = await reviews.updateMetadata(reviewId, change, newWrite())
   * assert.deepEqual(updated.private_metadata, { ticket: 'A7' })
   */
  updateMetadata: UpdateMetadata
}

const ratingField = extendResource(productResource, {
  field: 'rating',
  audience: 'public',
  purgedBy: 'expiry',
  schema: { ...ProductRatingResponse, description: 'Null: the shop has no reviews module.' }
})

type CustomerPayload = { readonly customer_id: string | null }

/** Product reviews by customers, their moderation, and the ratings of products. */
export const reviewsModule = defineModule({
  name: 'reviews',
  description: 'Product reviews, ratings and their moderation.',
  basePaths: ['/api/products/:id/reviews', '/api/catalog/reviews'],
  settings: reviewsSettings,
  requires: { catalog: catalogModule },
  uses: { auth: authModule, orders: ordersModule },
  emits: [reviewSubmittedEvent, reviewPublishedEvent],
  subscribes: [orderPlacedEvent, orderClaimedEvent, orderCanceledEvent, orderCreditedEvent],
  jobs: [checkProductRatingsJob],
  extends: [ratingField],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  setup: async ({ db, broadcast, emit, log }, settings, { catalog, auth, orders }) => {
    const ratings = createProductRatingService({ db, broadcast })
    const recordChange = createReviewChangePublisher({ ratings, emit })
    const storefront = createReviewStorefront({ db, catalog, ratings })
    const ownReviews = createOwnReviewService({
      db,
      emit,
      recordChange,
      catalog,
      auth,
      orders,
      rules: settings
    })
    const moderation = createReviewModeration({ db, recordChange })
    const personalData = reviewPersonalData(db)
    const api: ReviewsApi = {
      erase: personalData.erase,
      export: personalData.export,
      updateMetadata: createMetadataCommand(moderation.updateMetadata)
    }
    const updatePurchases = async (tx: Transaction, events: readonly JobDelivery<CustomerPayload>[]) => {
      const customerIds = events.map(({ payload }) => payload.customer_id).filter(id => id !== null)
      if (orders !== undefined) await updateVerifiedPurchases(tx, customerIds, orders)
    }
    return {
      api,
      fields: [provideField(ratingField, { load: ratings.list, loadCached: ratings.listCached })],
      personalData,
      routes: (tiers: Tiers) => {
        reviewStorefrontRoutes(tiers, storefront)
        ownReviewRoutes(tiers, ownReviews, { writesPerMinute: settings.writes_per_minute })
        reviewModerationRoutes(tiers, moderation)
      },
      // A guest has no reviews.
      isWanted: (_event, payload) => (payload as CustomerPayload).customer_id !== null,
      eventHandlers: {
        'orders.placed': updatePurchases,
        'orders.claimed': updatePurchases,
        'orders.canceled': updatePurchases,
        'orders.credited': updatePurchases
      },
      jobHandlers: {
        'reviews.check_ratings': async (_job: unknown, signal: AbortSignal) => {
          const mended = await repairProductRatings({ db, ratings }, signal)
          if (mended.length > 0)
            log.warn(
              { product_ids: mended.slice(0, 100) },
              'repaired ratings that did not match their reviews'
            )
        }
      }
    }
  }
})
