import { type Days, dayAfter } from '../../../kernel/days.ts'
import { defineJob } from '../../../kernel/events.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { type Figures, joinFigures, type ReadFigures } from './figures.ts'
import type { Period } from './period.ts'
import * as repository from './repository.ts'

export const keepDays = defineJob(
  'admin.keep_days',
  {
    description: 'Counts the figures of days that are over, for the dashboard.',
    seconds: 600,
    everySeconds: 60
  },
  {}
)

const HOUR_MS = 3_600_000
/** Transactions that began before midnight are committed by then. */
const SETTLED_MS = HOUR_MS
/** Days before today that are kept: this year and the one that it is compared with. */
const DAYS_MAX = 2 * 366
/** Days that one run of the job counts, the latest first. */
const RUN_DAYS = 50
/** A day is counted again after this share of its age, because orders of it may be canceled later, ever less likely. */
const AGE_SHARE = 1 / 24

type Deps = { db: Database; days: Days; scope: string; read: ReadFigures }

/** Figures of a period, of which those days are added up from orders that are not kept. */
export function createKeptDays({ db, days, scope, read }: Deps) {
  async function figuresOf(period: Period): Promise<Figures> {
    const [from = '', to = from] = [period.days[0], period.days.at(-1)]
    const rows = await db.rows(repository.listKept, { scope, first: from, last: to })
    const kept = new Map(rows.map(({ day, figures }) => [day, figures]))
    const first = period.days.findIndex(day => !kept.has(day))
    const last = period.days.findLastIndex(day => !kept.has(day))
    const runs = period.days.flatMap((day, offset) => {
      const figures = offset < first || offset > last ? kept.get(day) : undefined
      return figures === undefined ? [] : [{ offset, figures }]
    })
    if (first === -1) return joinFigures(runs)
    const end = period.starts[last + 1] ?? period.end
    const figures = await read({ starts: period.starts.slice(first, last + 1), end })
    return joinFigures([...runs, { offset: first, figures }])
  }

  /** Days that are over and were never counted, or long ago; the latest first. */
  async function dueDays(now: number): Promise<string[]> {
    const beginning = await db.first(repository.findBeginning)
    const to = dayAfter(days.at(now - SETTLED_MS), -1)
    const oldest = dayAfter(to, 1 - DAYS_MAX)
    const began = days.at(beginning?.at.getTime() ?? now)
    const from = began > oldest ? began : oldest
    const rows = await db.rows(repository.listCounted, { scope, first: from, last: to })
    const countedAt = new Map(rows.map(({ day, counted_at }) => [day, counted_at.getTime()]))
    const due: string[] = []
    for (let day = to; day >= from && due.length < RUN_DAYS; day = dayAfter(day, -1)) {
      const age = now - days.startOf(dayAfter(day))
      if (now - (countedAt.get(day) ?? 0) > age * AGE_SHARE) due.push(day)
    }
    return due
  }

  return {
    figuresOf,
    /** Counts what is due. */
    keep: async (signal: AbortSignal, now = Date.now()): Promise<void> => {
      await db.run(repository.deleteOtherScopes, { scope })
      for (const day of await dueDays(now)) {
        signal.throwIfAborted()
        const countedAt = new Date()
        const figures = await read({
          starts: [new Date(days.startOf(day))],
          end: new Date(days.startOf(dayAfter(day)))
        })
        await db.run(repository.keepDay, { scope, day, figures, countedAt })
      }
    }
  }
}
export type KeptDays = ReturnType<typeof createKeptDays>
