const FIRST_SECONDS = 2
const GROWTH = 3
const SECONDS_MAX = 21_600
/** Spread over half of the pause in both directions, so that what failed together does not come again together. */
const SPREAD = 0.5
/** After so many tries in vain something is dead: 5 hours or so after the first. */
export const TRIES_MAX = 10

/** How long to wait after so many tries in vain; `null` when there is no further one. `random` is from 0 to 1. */
export function pauseSeconds(attempts: number, random: number): number | null {
  if (attempts >= TRIES_MAX) return null
  const seconds = FIRST_SECONDS * GROWTH ** (attempts - 1) * (1 - SPREAD + 2 * SPREAD * random)
  return Math.min(seconds, SECONDS_MAX)
}
