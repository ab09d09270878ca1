import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { promotionNotFoundError } from '../errors.ts'
import * as repository from '../redemptions/repository.ts'
import { findPromotion } from './repository.ts'
import type { RedemptionResponse } from './schema.ts'

/** Lists the orders that use a promotion. Canceled orders are not listed. */
export const createPromotionRedemptionListService = ({ db }: { db: Database }) => ({
  /** @throws `PRICING_PROMOTION_NOT_FOUND` */
  list: async (promotionId: string, query: PageQuery): Promise<Page<RedemptionResponse>> => {
    found(await db.first(findPromotion, { id: promotionId }), promotionNotFoundError)
    const of = { promotion_id: promotionId }
    return readPage(query, {
      ...newestFirst,
      name: 'redemptions',
      filters: promotionId,
      placeOf: ({ owner }) => ({ after: owner }),
      rows: page => db.rows(repository.listPromotionRedemptions, { ...of, ...page }),
      total: () => db.first(repository.countPromotionRedemptions, of)
    })
  }
})
export type PromotionRedemptionListService = ReturnType<typeof createPromotionRedemptionListService>
