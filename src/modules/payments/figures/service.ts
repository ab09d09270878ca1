import type { Queryable } from '../../../platform/postgres/database.ts'
import { countQuarantined, type MoneySums, sumMoney } from './repository.ts'

/** Money captured and refunded in some days, in minor units. `day` counts from 1. */
export type MoneyFigures = readonly MoneySums[]

/** See `PaymentsApi.figures`. */
export const figures = (db: Queryable, starts: readonly Date[], end: Date): Promise<MoneyFigures> =>
  db.rows(sumMoney, { starts: starts.map(start => start.toISOString()), end })

/** See `PaymentsApi.quarantined`. */
export const quarantined = async (db: Queryable): Promise<number> =>
  (await db.first(countQuarantined))?.total ?? 0
