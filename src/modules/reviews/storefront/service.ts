import { HIGHEST_ID, LOWEST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { ProductRatingService } from '../ratings/service.ts'
import type { ReviewResponse } from '../reviews/schema.ts'
import { publicReviewView } from '../reviews/view.ts'
import * as repository from './repository.ts'
import type { PublicReviewQuery, RatingResponse, ReviewSort } from './schema.ts'

type Deps = {
  db: Queryable
  catalog: Pick<CatalogApi, 'requireProduct'>
  ratings: Pick<ProductRatingService, 'list'>
}

const beforeFirst: Record<ReviewSort, { stars: number; id: string }> = {
  newest: { stars: 0, id: HIGHEST_ID },
  oldest: { stars: 0, id: LOWEST_ID },
  highest: { stars: 6, id: HIGHEST_ID },
  lowest: { stars: 0, id: LOWEST_ID }
}

/** The public side of reviews: published reviews with the public name of the author only, and ratings. */
export function createReviewStorefront({ db, catalog, ratings }: Deps) {
  /** @throws `CATALOG_PRODUCT_NOT_FOUND`, `INVALID_CURSOR` */
  async function list(idOrSlug: string, query: PublicReviewQuery): Promise<Page<ReviewResponse>> {
    const { sort = 'newest', rating = null, verified = null } = query
    const product_id = await catalog.requireProduct(idOrSlug)
    const filters = { product_id, rating, verified }
    const isByStars = sort === 'highest' || sort === 'lowest'
    const page = await readPage(query, {
      name: 'published reviews',
      filters: [sort, filters],
      start: beforeFirst[sort],
      rows: place => db.rows(repository.listPublishedReviewsBySort[sort], { ...filters, ...place }),
      placeOf: row => ({ stars: isByStars ? row.rating : 0, id: row.id }),
      total: () => db.first(repository.countPublishedReviews, filters)
    })
    return { ...page, items: page.items.map(publicReviewView) }
  }

  /** @throws `CATALOG_PRODUCT_NOT_FOUND` */
  async function rating(idOrSlug: string): Promise<RatingResponse> {
    const [rated] = await ratings.list([await catalog.requireProduct(idOrSlug)])
    const { average = null, count = 0, histogram = [0, 0, 0, 0, 0] } = rated ?? {}
    const [one, two, three, four, five] = histogram
    return { average, count, histogram: { '1': one, '2': two, '3': three, '4': four, '5': five } }
  }

  return { list, rating }
}
export type ReviewStorefront = ReturnType<typeof createReviewStorefront>
