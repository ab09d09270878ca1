import type { Queryable } from '../../../platform/postgres/database.ts'
import type { PricingApi } from '../../pricing/index.ts'
import { listOrderMessageSummaries, type SummarizedOrderRow } from './message-summary-repository.ts'

/** The content of a message about an order, and its recipient. */
export type OrderMessageSummary = Omit<SummarizedOrderRow, 'market'> & {
  /** Locale of the market. Null: the market no longer exists. */
  readonly locale: string | null
}

type Deps = { pricing: Pick<PricingApi, 'markets'> }

/** See `OrdersApi.orderSummaries`. */
export const createOrderMessageSummaryReader =
  ({ pricing }: Deps) =>
  async (db: Queryable, ids: readonly string[]): Promise<readonly OrderMessageSummary[]> => {
    const [rows, markets] = await Promise.all([
      db.rows(listOrderMessageSummaries, { ids }),
      pricing.markets.list()
    ])
    return rows.map(({ market, ...row }) => ({
      ...row,
      locale: markets.find(({ code }) => code === market)?.locale ?? null
    }))
  }
