const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Days of a time zone in ISO 8601, and the instants at which they begin. */
export type TimeZoneDays = ReturnType<typeof createTimeZoneDays>

export function createTimeZoneDays(timeZone: string) {
  // UTC needs no formatter, which takes 15 ms to create.
  const dayAt = timeZone === 'UTC' ? utcDayOf : dayIn(timeZone)

  return {
    /** Returns the local day at an instant. */
    at: dayAt,
    /** Returns the first minute of a local day, also where a clock change skips its midnight. */
    startOf: (day: string): number => {
      // A local day begins between 15 hours before and 13 hours after midnight UTC, in every time zone.
      let before = Date.parse(`${day}T00:00:00Z`) - 15 * HOUR_MS
      let at = before + 28 * HOUR_MS
      while (at - before > MINUTE_MS) {
        const middle = before + Math.floor((at - before) / 2 / MINUTE_MS) * MINUTE_MS
        if (dayAt(middle) < day) before = middle
        else at = middle
      }
      return at
    }
  }
}

/** Returns the day `count` days later, or earlier when `count` is negative. */
export const addDays = (day: string, count = 1): string =>
  utcDayOf(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS)

/** Whether the day exists in the calendar. */
export const isCalendarDay = (day: string): boolean => {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight) && utcDayOf(midnight) === day
}

const utcDayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10)

function dayIn(timeZone: string): (instant: number) => string {
  // The Swedish format is ISO 8601, so days can be compared as text.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' })
    .format
}

export function isTimeZone(name: string): boolean {
  try {
    return name === 'UTC' || dayIn(name) !== undefined
  } catch {
    return false
  }
}
