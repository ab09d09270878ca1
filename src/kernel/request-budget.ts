const WINDOW_MS = 60_000
const CALLERS_MAX = 200_000
const ROUNDING_MS = 0.01 // sums of fractions are not exact, and the last request of a budget is still within it

/**
 * Limits requests per minute and caller with a token bucket that refills evenly. It stores only the time at which each bucket
 * is full again, so it needs no timers. The limit is per process: N processes allow N times as much. `platform.openBudget` opens one that they share.
 * @example
 * const take = createRequestBudget(1)
 * assert.equal(take(customerId), 0)
 * assert.ok(take(customerId) > 0)
 */
export function createRequestBudget(perMinute: number) {
  const { waitSeconds, spend } = createTokenBuckets(perMinute)

  /**
   * Takes `count` requests from the caller's budget; a negative `count` returns them. Returns 0, or the seconds to wait when
   * too few are left; then none is taken.
   */
  return function take(caller: string, count = 1): number {
    const seconds = waitSeconds(caller, count)
    if (seconds === 0) spend(caller, count)
    return seconds
  }
}

/** The token buckets of a budget, by caller. */
export function createTokenBuckets(perMinute: number) {
  const costMs = WINDOW_MS / perMinute
  const fullAt = new Map<string, number>()
  const levelAfter = (caller: string, count: number, now: number): number =>
    Math.max(fullAt.get(caller) ?? 0, now) + costMs * count
  const set = (caller: string, level: number, now: number): void => {
    if (!fullAt.has(caller) && fullAt.size >= CALLERS_MAX) deleteFullBuckets(fullAt, now)
    fullAt.set(caller, level)
  }

  return {
    /** Returns 0 when `count` requests are left, or the seconds until they are. */
    waitSeconds(caller: string, count: number): number {
      const now = performance.now()
      const waitMs = levelAfter(caller, count, now) - now - WINDOW_MS
      return waitMs > ROUNDING_MS ? Math.ceil(waitMs / 1_000) : 0
    },
    /** Takes `count` requests, also when fewer are left. */
    spend(caller: string, count: number): void {
      const now = performance.now()
      set(caller, levelAfter(caller, count, now), now)
    },
    /** The part of the budget that is used, after `count` more requests: 1 when it is used up. */
    usedShare(caller: string, count: number): number {
      const now = performance.now()
      return (levelAfter(caller, count, now) - now) / WINDOW_MS
    },
    /** Sets the used part of the budget. */
    setUsedShare(caller: string, share: number): void {
      const now = performance.now()
      set(caller, now + share * WINDOW_MS, now)
    }
  }
}

/** Deletes callers whose bucket is full again. If too many remain, deletes the oldest until half of the maximum is left. */
function deleteFullBuckets(fullAt: Map<string, number>, now: number): void {
  for (const [caller, level] of fullAt) if (level <= now) fullAt.delete(caller)
  for (const caller of fullAt.keys()) {
    if (fullAt.size < CALLERS_MAX / 2) return
    fullAt.delete(caller)
  }
}
