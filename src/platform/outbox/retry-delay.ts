const FIRST_DELAY_SECONDS = 2
const GROWTH = 3
const DELAY_SECONDS_MAX = 21_600
/** Share of the delay that is added or subtracted at random, so rows that failed together are not retried together. */
const JITTER = 0.5
/** Attempts to handle an event or run a job before it is dead, about 5 hours after the first. */
export const JOB_ATTEMPTS_MAX = 10

/** Returns the seconds until the next attempt after `attempts` failures; null after the last one. `random` is from 0 to 1. */
export function jobRetryDelaySeconds(attempts: number, random: number): number | null {
  if (attempts >= JOB_ATTEMPTS_MAX) return null
  const seconds = FIRST_DELAY_SECONDS * GROWTH ** (attempts - 1) * (1 - JITTER + 2 * JITTER * random)
  return Math.min(seconds, DELAY_SECONDS_MAX)
}
