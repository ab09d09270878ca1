import type { Page } from '../../../kernel/pages.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { createJsonPageFiller } from './page-filler.ts'
import type { ProductResponse, ProductSummaryResponse } from './schema.ts'

export type ProductRatingSummary = { readonly average: number | null; readonly count: number }
/** Returns the ratings of these products, in their order. An unchanged rating is the same object. */
export type LoadProductRatings = (productIds: readonly string[]) => Promise<readonly ProductRatingSummary[]>

/**
 * Fills the ratings into pages and lists of products, after the reviews module has registered their source.
 */
export function createPageRatingFiller() {
  let loadRatings: LoadProductRatings | undefined
  const fillerOf = (idsOf: (page: string) => string[]) => {
    const fill = createJsonPageFiller<ProductRatingSummary>({
      member: 'rating',
      idsOf,
      valuesOf: async ids => (await loadRatings?.(ids)) ?? [],
      write: ({ average, count }) => JSON.stringify({ average, count })
    })
    return async (page: string, isKept = true) => (loadRatings === undefined ? page : fill(page, isKept))
  }
  return {
    register: (ratingsOf: LoadProductRatings): void => {
      loadRatings = ratingsOf
    },
    inPage: fillerOf(page => [(JSON.parse(page) as ProductResponse).id]),
    inList: fillerOf(page => (JSON.parse(page) as Page<ProductSummaryResponse>).items.map(({ id }) => id))
  }
}
export type PageRatingFiller = ReturnType<typeof createPageRatingFiller>

/** Fills the stock of variants into the page of a product. */
export function createPageStockFiller(inventory: Pick<InventoryApi, 'available'> | undefined) {
  if (inventory === undefined) return async (page: string) => page
  return createJsonPageFiller<number | null>({
    member: 'stock',
    idsOf: page => (JSON.parse(page) as ProductResponse).variants.map(({ id }) => id),
    valuesOf: inventory.available,
    write: String
  })
}
