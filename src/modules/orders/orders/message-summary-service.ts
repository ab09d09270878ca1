import type { Queryable } from '../../../platform/postgres/database.ts'
import type { PricingApi } from '../../pricing/index.ts'
import { listOrderMessageSummaries, type SummarizedOrderRow } from './message-summary-repository.ts'
import type { OrderTokens } from './service.ts'

/** The content of a message about an order, and its recipient. */
export type OrderMessageSummary = Omit<SummarizedOrderRow, 'token_version' | 'market'> & {
  /** Locale of the market. Null: the market no longer exists. */
  readonly locale: string | null
  /** The order token of a guest: a secret. Null: a customer owns the order. */
  readonly token: string | null
}

type Deps = { pricing: Pick<PricingApi, 'markets'>; tokens: Pick<OrderTokens, 'create'> }

/** See `OrdersApi.orderSummaries`. */
export const createOrderMessageSummaryReader =
  ({ pricing, tokens }: Deps) =>
  async (db: Queryable, ids: readonly string[]): Promise<readonly OrderMessageSummary[]> => {
    const [rows, markets] = await Promise.all([
      db.rows(listOrderMessageSummaries, { ids }),
      pricing.markets.list()
    ])
    return rows.map(({ token_version, market, ...row }) => ({
      ...row,
      locale: markets.find(({ code }) => code === market)?.locale ?? null,
      token: row.customer_id === null ? tokens.create(row.id, token_version) : null
    }))
  }
