import { RecentlyUsedMap } from '../../../kernel/recently-used-map.ts'
import { createSingleFlight } from '../../../kernel/single-flight.ts'
import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import * as repository from './repository.ts'

const TOPIC = 'ratings'
const CACHED_MAX = 50_000
/** Ids per broadcast message, which can have 7,900 bytes. */
const IDS_A_MESSAGE = 200

/** The number of published reviews with one star, two stars, and so on. */
export type RatingHistogram = readonly [number, number, number, number, number]

/**
 * Returns the average stars with two decimals, rounded half up in integer arithmetic. Null without reviews.
 */
export function averageRatingOf(histogram: RatingHistogram): number | null {
  const count = countOf(histogram)
  if (count === 0) return null
  const stars = histogram.reduce((sum, times, index) => sum + times * (index + 1), 0)
  return Math.floor((200 * stars + count) / (2 * count)) / 100
}

const countOf = (histogram: RatingHistogram): number => histogram.reduce((sum, times) => sum + times, 0)

export type ProductRating = {
  readonly average: number | null
  readonly count: number
  readonly histogram: RatingHistogram
}
const ratingOf = (histogram: RatingHistogram): ProductRating => ({
  average: averageRatingOf(histogram),
  count: countOf(histogram),
  histogram
})
const UNRATED = ratingOf([0, 0, 0, 0, 0])

type Deps = { db: Queryable; broadcast: Broadcast }

/**
 * The ratings of products, cached in this process. A change invalidates them in this process when its
 * transaction returns, and in others within a second. Nothing is cached while messages of the broadcast can
 * be missed.
 */
export function createProductRatingService({ db, broadcast }: Deps) {
  const cached = new RecentlyUsedMap<ProductRating>(CACHED_MAX)
  const loadOnce = createSingleFlight<ReadonlyMap<string, ProductRating>>()
  let generation = 0
  const invalidate = (productIds: readonly string[]) => {
    generation += 1
    for (const id of productIds) cached.delete(id)
  }
  broadcast.subscribe(TOPIC, {
    onMessage: message => invalidate(message.split(',')),
    onGap: () => {
      generation += 1
      cached.clear()
    }
  })

  async function load(product_ids: readonly string[]): Promise<ReadonlyMap<string, ProductRating>> {
    const generationBefore = generation
    const rows = await db.rows(repository.listStoredProductRatings, { product_ids })
    const rated = new Map(
      rows.map(row => [
        row.product_id,
        ratingOf([row.stars_1, row.stars_2, row.stars_3, row.stars_4, row.stars_5])
      ])
    )
    // Rows that were read before a change and arrive after its invalidation are stale, so they are not
    // cached.
    if (generation === generationBefore && broadcast.isLive())
      for (const id of product_ids) cached.set(id, rated.get(id) ?? UNRATED)
    return rated
  }

  return {
    /** Returns the ratings of these products if all are cached. */
    listCached: (productIds: readonly string[]): ProductRating[] | undefined => {
      if (!broadcast.isLive()) return undefined
      const kept: ProductRating[] = []
      for (const id of productIds) {
        const rating = cached.get(id)
        if (rating === undefined) return undefined
        kept.push(rating)
      }
      return kept
    },
    /**
     * Returns the ratings of these products, in their order. Reads all that are not cached with one
     * statement.
     */
    list: async (productIds: readonly string[]): Promise<ProductRating[]> => {
      const isLive = broadcast.isLive()
      const kept = productIds.map(id => (isLive ? cached.get(id) : undefined))
      const missing = productIds.filter((_id, index) => kept[index] === undefined)
      if (missing.length === 0) return kept as ProductRating[]
      const loaded = await loadOnce(`${generation} ${missing}`, () => load(missing))
      return productIds.map((id, index) => kept[index] ?? loaded.get(id) ?? UNRATED)
    },
    /**
     * Applies the change of one review to the rating of its product. `before` and `after`: its stars, null
     * while the review is not published. The update is sent with the COMMIT, because all reviews of a product
     * lock the same row.
     */
    updateCounts: (
      tx: Transaction,
      product_id: string,
      before: number | null,
      after: number | null
    ): void => {
      if (before === after) return
      tx.withCommit(last =>
        Promise.all([
          last.run(repository.updateProductRating, { product_id, before, after }),
          broadcast.publish(last, TOPIC, product_id)
        ])
      )
      tx.afterCommit(() => invalidate([product_id]))
    },
    /**
     * Counts the published reviews of these products again. Correct also while reviews are written
     * concurrently.
     */
    recount: async (tx: Transaction, product_ids: readonly string[]): Promise<void> => {
      await tx.run(repository.insertMissingProductRatings, { product_ids })
      await tx.rows(repository.lockProductRatings, { product_ids })
      await tx.run(repository.recalculateProductRatings, { product_ids })
      for (let from = 0; from < product_ids.length; from += IDS_A_MESSAGE)
        await broadcast.publish(tx, TOPIC, product_ids.slice(from, from + IDS_A_MESSAGE).join())
      tx.afterCommit(() => invalidate(product_ids))
    }
  }
}
export type ProductRatingService = ReturnType<typeof createProductRatingService>
