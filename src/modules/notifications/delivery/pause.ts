const FIRST_SECONDS = 5
const GROWTH = 3
/** A server that was away is back sooner or later; more often than this nobody asks (RFC 5321, 4.5.4.1). */
const SECONDS_MAX = 1_800
/** Spread over half of it in both directions, so that what failed together does not come again together. */
const SPREAD = 0.5

/** How long to wait after so many tries in vain. `random` is from 0 to 1. */
export function pauseSeconds(attempts: number, random: number): number {
  const seconds = Math.min(FIRST_SECONDS * GROWTH ** Math.min(attempts - 1, 20), SECONDS_MAX)
  return seconds * (1 - SPREAD + 2 * SPREAD * random)
}
