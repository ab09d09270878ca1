import { type Days, dayAfter } from '../../../kernel/days.ts'
import { periodInvalid } from '../errors.ts'

const DAYS_MAX = 366
const DAYS_USUAL = 30

/** Days of the shop, the first instant of each, and the end of the last one. */
export type Period = { days: string[]; starts: Date[]; end: Date }

/** From one day to another, both included; the last thirty where nothing is said. @throws `ADMIN_PERIOD_INVALID` */
export function periodOf(days: Days, asked: { from?: string; to?: string }, now: number): Period {
  const to = asked.to ?? (asked.from === undefined ? days.at(now) : latestOf(asked.from, days.at(now)))
  const from = asked.from ?? dayAfter(to, 1 - DAYS_USUAL)
  const all: string[] = []
  for (let day = from; day <= to && all.length <= DAYS_MAX; day = dayAfter(day)) all.push(day)
  if (all.length === 0 || all.length > DAYS_MAX) throw periodInvalid({ details: { days_max: DAYS_MAX } })
  return {
    days: all,
    starts: all.map(day => new Date(days.startOf(day))),
    end: new Date(days.startOf(dayAfter(to)))
  }
}

const latestOf = (one: string, other: string) => (one > other ? one : other)
