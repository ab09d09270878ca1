import { OperatorError } from '../../../kernel/errors.ts'
import { momentInvalid } from '../errors.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Reads days and moments as they were sent; days in the time zone of the shop. */
export type Periods = ReturnType<typeof createPeriods>

/** @throws OperatorError when there is no such time zone. */
export function createPeriods(timeZone: string) {
  // Most shops start without the 15 ms that a formatter takes.
  const dayAt = timeZone === 'UTC' ? dayOf : dayIn(timeZone)

  /** The first instant of a day: the first minute in which clocks show it, also where there is no midnight that day. */
  function startOf(day: string): number {
    // Nowhere does a day begin earlier or later than this.
    let before = Date.parse(`${day}T00:00:00Z`) - 15 * HOUR_MS
    let at = before + 28 * HOUR_MS
    while (at - before > MINUTE_MS) {
      const middle = before + Math.floor((at - before) / 2 / MINUTE_MS) * MINUTE_MS
      if (dayAt(middle) < day) before = middle
      else at = middle
    }
    return at
  }

  function instantOf(text: string, edge: 'starts_at' | 'ends_at'): Date {
    const day = text.slice(0, 10)
    const midnight = Date.parse(`${day}T00:00:00Z`)
    const isReal = !Number.isNaN(midnight) && dayOf(midnight) === day
    const instant = text.length > 10 ? Date.parse(text) : Number.NaN
    if (!isReal || (text.length > 10 && Number.isNaN(instant))) {
      const errors = [{ path: `body/${edge}`, message: 'must be a day that there is' }]
      throw momentInvalid({ details: { errors } })
    }
    if (text.length > 10) return new Date(instant)
    return new Date(startOf(edge === 'starts_at' ? day : dayOf(midnight + DAY_MS)))
  }

  return {
    /** Undefined and null stay what they are. @throws `PRICING_MOMENT_INVALID` for a day that there is not. */
    read: <T extends string | null | undefined>(text: T, edge: 'starts_at' | 'ends_at') =>
      (typeof text === 'string' ? instantOf(text, edge) : text) as T extends string ? Date : T
  }
}

const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10)

function dayIn(timeZone: string): (instant: number) => string {
  try {
    // In Swedish a day is written as ISO 8601 has it, so days can be compared as texts.
    return new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
      .format
  } catch (cause) {
    throw new OperatorError(
      `There is no time zone ${timeZone}: set shop.time_zone to a name such as Europe/Berlin.`,
      { cause }
    )
  }
}
