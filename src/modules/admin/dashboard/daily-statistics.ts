import { addDays, type TimeZoneDays } from '../../../kernel/days.ts'
import { defineJob } from '../../../kernel/events.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { DashboardPeriod } from './period.ts'
import * as repository from './repository.ts'
import {
  type DashboardStatistics,
  mergeStatisticsOfPeriodParts,
  type ReadDashboardStatistics
} from './statistics.ts'

export const storeDailyStatisticsJob = defineJob(
  'admin.keep_days',
  {
    description: 'Computes and stores the statistics of past days for the dashboard.',
    timeoutSeconds: 600,
    intervalSeconds: 60
  },
  {}
)

const HOUR_MS = 3_600_000
/** A day is computed this long after its end, when transactions that began before midnight are committed. */
const SETTLED_MS = HOUR_MS
/** Stored days before today: this year and the one that it is compared with. */
const DAYS_MAX = 2 * 366
/** Maximum days that one run of the job computes, latest first. */
const RUN_DAYS_MAX = 50
/** A day is computed again after this share of its age. Later changes, such as cancellations, get rarer with age. */
const AGE_SHARE = 1 / 24

type Deps = { db: Database; days: TimeZoneDays; scope: string; compute: ReadDashboardStatistics }

/** Statistics of a period: stored days are read from their table, and the others are computed from orders. */
export function createDailyStatisticsService({ db, days, scope, compute }: Deps) {
  /** The days from the first to the last one that is not stored are computed together, in one statement per module. */
  async function statisticsOf(period: DashboardPeriod): Promise<DashboardStatistics> {
    const [from = '', to = from] = [period.days[0], period.days.at(-1)]
    const rows = await db.rows(repository.listDailyDashboardStatistics, { scope, first: from, last: to })
    const stored = new Map(rows.map(({ day, statistics }) => [day, statistics]))
    const first = period.days.findIndex(day => !stored.has(day))
    const last = period.days.findLastIndex(day => !stored.has(day))
    const parts = period.days.flatMap((day, offset) => {
      const statistics = offset < first || offset > last ? stored.get(day) : undefined
      return statistics === undefined ? [] : [{ offset, statistics }]
    })
    if (first === -1) return mergeStatisticsOfPeriodParts(parts)
    const end = period.starts[last + 1] ?? period.end
    const statistics = await compute({ starts: period.starts.slice(first, last + 1), end })
    return mergeStatisticsOfPeriodParts([...parts, { offset: first, statistics }])
  }

  /** Past days that were never computed, or not recently enough for their age; latest first. */
  async function dueDays(now: number): Promise<string[]> {
    const beginning = await db.first(repository.findShopInstallTime)
    const to = addDays(days.at(now - SETTLED_MS), -1)
    const oldest = addDays(to, 1 - DAYS_MAX)
    const began = days.at(beginning?.at.getTime() ?? now)
    const from = began > oldest ? began : oldest
    const rows = await db.rows(repository.listStoredStatisticsDays, { scope, first: from, last: to })
    const computedAt = new Map(rows.map(({ day, computed_at }) => [day, computed_at.getTime()]))
    const due: string[] = []
    for (let day = to; day >= from && due.length < RUN_DAYS_MAX; day = addDays(day, -1)) {
      const age = now - days.startOf(addDays(day))
      if (now - (computedAt.get(day) ?? 0) > age * AGE_SHARE) due.push(day)
    }
    return due
  }

  return {
    statisticsOf,
    hasDueDays: async (): Promise<boolean> => (await dueDays(Date.now())).length > 0,
    /** Computes and stores the due days. */
    storeDue: async (signal: AbortSignal, now = Date.now()): Promise<void> => {
      await db.run(repository.deleteDailyStatisticsOfOtherScopes, { scope })
      for (const day of await dueDays(now)) {
        signal.throwIfAborted()
        const computedAt = new Date()
        const statistics = await compute({
          starts: [new Date(days.startOf(day))],
          end: new Date(days.startOf(addDays(day)))
        })
        await db.run(repository.upsertDailyDashboardStatistics, { scope, day, statistics, computedAt })
      }
    }
  }
}
export type DailyStatisticsService = ReturnType<typeof createDailyStatisticsService>
