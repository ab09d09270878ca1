import { addDays, type TimeZoneDays } from '../../../kernel/days.ts'
import { dashboardPeriodInvalidError } from '../errors.ts'

const DAYS_MAX = 366
const DAYS_DEFAULT = 30

/** Days in the time zone of the shop, the start of each, and the end of the last one. */
export type DashboardPeriod = { days: string[]; starts: Date[]; end: Date }

/** Returns the days from `from` to `to`, inclusive. Default: the last 30 days. @throws `ADMIN_PERIOD_INVALID` */
export function resolveDashboardPeriod(
  days: TimeZoneDays,
  query: { from?: string; to?: string },
  now: number
): DashboardPeriod {
  const to = query.to ?? (query.from === undefined ? days.at(now) : laterOf(query.from, days.at(now)))
  const from = query.from ?? addDays(to, 1 - DAYS_DEFAULT)
  const all: string[] = []
  for (let day = from; day <= to && all.length <= DAYS_MAX; day = addDays(day)) all.push(day)
  if (all.length === 0 || all.length > DAYS_MAX)
    throw dashboardPeriodInvalidError({ details: { days_max: DAYS_MAX } })
  return {
    days: all,
    starts: all.map(day => new Date(days.startOf(day))),
    end: new Date(days.startOf(addDays(to)))
  }
}

const laterOf = (one: string, other: string) => (one > other ? one : other)
