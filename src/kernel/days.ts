const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Days of a time zone, as ISO 8601 writes them, and the instants at which they begin. */
export type Days = ReturnType<typeof createDays>

export function createDays(timeZone: string) {
  // Most shops start without the 15 ms that a formatter takes.
  const dayAt = timeZone === 'UTC' ? utcDayOf : dayIn(timeZone)

  return {
    /** The day that clocks show at an instant. */
    at: dayAt,
    /** The first instant of a day: the first minute in which clocks show it, also where there is no midnight that day. */
    startOf: (day: string): number => {
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
  }
}

/** The day that is so many days later; so many earlier below 0. */
export const dayAfter = (day: string, count = 1): string =>
  utcDayOf(Date.parse(`${day}T00:00:00Z`) + count * DAY_MS)

/** Whether there is such a day. */
export const isDay = (day: string): boolean => {
  const midnight = Date.parse(`${day}T00:00:00Z`)
  return !Number.isNaN(midnight) && utcDayOf(midnight) === day
}

const utcDayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10)

function dayIn(timeZone: string): (instant: number) => string {
  // In Swedish a day is written as ISO 8601 has it, so days can be compared as texts.
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
