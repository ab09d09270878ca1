const DAY_MS = 86_400_000

/**
 * Returns the time before which rows are expired that are kept for some days.
 * @example
 * assert.deepEqual(keptForDays(1)(new Date('2026-11-28')), new Date('2026-11-27'))
 */
export const keptForDays =
  (days: number) =>
  (now: Date): Date =>
    new Date(now.getTime() - days * DAY_MS)

/**
 * Returns the time before which rows are expired that are kept for full calendar years after their year, as laws count
 * them. In UTC.
 * @example
 * assert.deepEqual(keptForYears(10)(new Date('2026-11-28')), new Date('2016-01-01'))
 */
export const keptForYears =
  (years: number) =>
  (now: Date): Date =>
    new Date(Date.UTC(now.getUTCFullYear() - years, 0))
