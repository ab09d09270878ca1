import type { Queryable } from '../../../platform/postgres/database.ts'
import { countQuarantined, type MoneySums, sumMoney } from './repository.ts'

/** What was taken and given back in some days, in minor units, and what does not fit. `day` counts from 1. */
export type MoneyFigures = { readonly days: readonly MoneySums[]; readonly quarantined: number }

/** See `PaymentsApi.figures`. */
export async function figures(db: Queryable, starts: readonly Date[], end: Date): Promise<MoneyFigures> {
  const [days, quarantined] = await Promise.all([
    db.rows(sumMoney, { starts: starts.map(start => start.toISOString()), end }),
    db.first(countQuarantined)
  ])
  return { days, quarantined: quarantined?.total ?? 0 }
}
