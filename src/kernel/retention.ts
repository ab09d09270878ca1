const DAY_MS = 86_400_000

/** Returns the time before which rows are expired that are kept for some days. */
export const keptForDays =
  (days: number) =>
  (now: Date): Date =>
    new Date(now.getTime() - days * DAY_MS)

/**
 * Returns the time before which rows are expired that are kept for full calendar years after their year, as laws count
 * them. In UTC.
 */
export const keptForYears =
  (years: number) =>
  (now: Date): Date =>
    new Date(Date.UTC(now.getUTCFullYear() - years, 0))
