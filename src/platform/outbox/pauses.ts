const FIRST_SECONDS = 2
const GROWTH = 3
const SECONDS_MAX = 21_600
/** Jitter of half the delay in both directions, so that rows that failed together are not retried together. */
const SPREAD = 0.5
/** Attempts before a row is dead, about 5 hours after the first. */
export const TRIES_MAX = 10

/** Seconds until the next attempt after `attempts` failures; `null` when there is none. `random` is from 0 to 1. */
export function pauseSeconds(attempts: number, random: number): number | null {
  if (attempts >= TRIES_MAX) return null
  const seconds = FIRST_SECONDS * GROWTH ** (attempts - 1) * (1 - SPREAD + 2 * SPREAD * random)
  return Math.min(seconds, SECONDS_MAX)
}
