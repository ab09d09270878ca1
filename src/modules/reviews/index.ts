import type { Tiers } from '../../gateway/routing/tiers.ts'
import type { Delivery } from '../../kernel/events.ts'
import { defineModule } from '../../module.ts'
import type { Transaction } from '../../platform/postgres/database.ts'
import { authModule } from '../auth/index.ts'
import { catalogModule } from '../catalog/index.ts'
import { orderCanceled, orderClaimed, orderCredited, orderPlaced, ordersModule } from '../orders/index.ts'
import { reviewsOfPeople } from './erasure/service.ts'
import { reviewPublished, reviewSubmitted } from './events.ts'
import { moderationRoutes } from './moderation/routes.ts'
import { createModeration } from './moderation/service.ts'
import { ownReviewRoutes } from './own-reviews/routes.ts'
import { createOwnReviewService } from './own-reviews/service.ts'
import { followPurchases } from './purchases/consumer.ts'
import { checkRatings } from './ratings/check.ts'
import { checkCounts } from './ratings/jobs.ts'
import { createRatings } from './ratings/service.ts'
import { createChanges } from './reviews/changes.ts'
import type { OwnReviewResponse } from './reviews/schema.ts'
import { reviewsSettings } from './settings.ts'
import { reviewStorefrontRoutes } from './storefront/routes.ts'
import { createReviewStorefront } from './storefront/service.ts'

export { reviewPublished, reviewSubmitted } from './events.ts'

/** What other modules ask about reviews. */
export type ReviewsApi = {
  /**
   * Somebody leaves: their published reviews stay, by nobody, and all else that they have written is deleted. Whoever has left
   * already has nothing that could be forgotten.
   */
  forget(tx: Transaction, customerId: string): Promise<void>
  /** All that somebody has written, as they see it themselves. */
  export(customerId: string): Promise<OwnReviewResponse[]>
}

type OfCustomer = { readonly customer_id: string | null }

/** What customers say of products, and what that adds up to. */
export const reviewsModule = defineModule({
  name: 'reviews',
  description: 'What customers say of products: stars and words, and what products are rated.',
  basePaths: ['/api/products/:id/reviews', '/api/catalog/reviews'],
  settings: reviewsSettings,
  requires: { catalog: catalogModule },
  uses: { auth: authModule, orders: ordersModule },
  emits: [reviewSubmitted, reviewPublished],
  hears: [orderPlaced, orderClaimed, orderCanceled, orderCredited],
  jobs: [checkCounts],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: true,
  setup: async ({ db, broadcast, emit, log }, settings, { catalog, auth, orders }) => {
    const ratings = createRatings({ db, broadcast })
    catalog.askReviews(ratings.of)
    const changed = createChanges({ ratings, emit })
    const storefront = createReviewStorefront({ db, catalog, ratings })
    const ownReviews = createOwnReviewService({ db, emit, changed, catalog, auth, orders, rules: settings })
    const moderation = createModeration({ db, changed })
    const people = reviewsOfPeople(db)
    const api: ReviewsApi = { forget: people.erase, export: people.export }
    const follow = async (tx: Transaction, events: readonly Delivery<OfCustomer>[]) => {
      const customerIds = events.map(({ payload }) => payload.customer_id).filter(id => id !== null)
      if (orders !== undefined) await followPurchases(tx, customerIds, orders)
    }
    return {
      api,
      people,
      routes: (tiers: Tiers) => {
        reviewStorefrontRoutes(tiers, storefront)
        ownReviewRoutes(tiers, ownReviews, { writesPerMinute: settings.writes_per_minute })
        moderationRoutes(tiers, moderation)
      },
      consumers: {
        'orders.placed': follow,
        'orders.claimed': follow,
        'orders.canceled': follow,
        'orders.credited': follow
      },
      handlers: {
        'reviews.check_ratings': async (_job: unknown, signal: AbortSignal) => {
          const mended = await checkRatings({ db, ratings }, signal)
          if (mended.length > 0) log.warn({ product_ids: mended.slice(0, 100) }, 'ratings were miscounted')
        }
      }
    }
  }
})
