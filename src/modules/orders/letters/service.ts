import type { Queryable } from '../../../platform/postgres/database.ts'
import type { PricingApi } from '../../pricing/index.ts'
import type { OrderTokens } from '../guest-orders/service.ts'
import { type LetterRow, listLetters } from './repository.ts'

/** What a letter about an order says, and to whom it goes. */
export type OrderLetter = Omit<LetterRow, 'token_version' | 'market'> & {
  /** Of its market; null where there is no such market any more. */
  readonly locale: string | null
  /** What shows that the order is theirs who have no account; null where it is an account's. It is a secret. */
  readonly token: string | null
}

type Deps = { pricing: Pick<PricingApi, 'markets'>; tokens: Pick<OrderTokens, 'of'> }

/** See `OrdersApi.letters`. */
export const createLetters =
  ({ pricing, tokens }: Deps) =>
  async (db: Queryable, ids: readonly string[]): Promise<readonly OrderLetter[]> => {
    const [rows, markets] = await Promise.all([db.rows(listLetters, { ids }), pricing.markets.list()])
    return rows.map(({ token_version, market, ...row }) => ({
      ...row,
      locale: markets.find(({ code }) => code === market)?.locale ?? null,
      token: row.customer_id === null ? tokens.of(row.id, token_version) : null
    }))
  }
