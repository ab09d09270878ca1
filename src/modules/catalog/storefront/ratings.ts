import type { Page } from '../../../kernel/pages.ts'
import { createFilling } from './filling.ts'
import type { ProductResponse, ProductSummaryResponse } from './schema.ts'

export type Rating = { readonly average: number | null; readonly count: number }
/** What these products are rated now, in their order; the same object as long as it is the same. */
export type RatingsOf = (productIds: readonly string[]) => Promise<readonly Rating[]>

/** Fills what products are rated into their pages and lists, from when on somebody says how to ask for it. */
export function createRatingsOfPages() {
  let ask: RatingsOf | undefined
  const fillingOf = (idsOf: (page: string) => string[]) => {
    const fill = createFilling<Rating>({
      ...{ member: 'rating', idsOf },
      valuesOf: async ids => (await ask?.(ids)) ?? [],
      write: ({ average, count }) => JSON.stringify({ average, count })
    })
    return async (page: string, isKept = true) => (ask === undefined ? page : fill(page, isKept))
  }
  return {
    askReviews: (ratingsOf: RatingsOf): void => {
      ask = ratingsOf
    },
    inPage: fillingOf(page => [(JSON.parse(page) as ProductResponse).id]),
    inList: fillingOf(page => (JSON.parse(page) as Page<ProductSummaryResponse>).items.map(({ id }) => id))
  }
}
export type RatingsOfPages = ReturnType<typeof createRatingsOfPages>
