const WINDOW_MS = 60_000
const CALLERS_MAX = 200_000
const ROUNDING_MS = 0.01 // sums of fractions are not exact, and the last request of a budget is still within it

/**
 * Limits requests per minute and caller with a token bucket that refills evenly. It stores only the time at which each bucket
 * is full again, so it needs no timers. The limit is per process: N processes allow N times as much.
 * @example
 * const take = createRequestBudget(1)
 * assert.equal(take(customerId), 0)
 * assert.ok(take(customerId) > 0)
 */
export function createRequestBudget(perMinute: number) {
  const costMs = WINDOW_MS / perMinute
  const fullAt = new Map<string, number>()

  /**
   * Takes `count` requests from the caller's budget; a negative `count` returns them. Returns 0, or the seconds to wait when
   * too few are left; then none is taken.
   */
  return function take(caller: string, count = 1): number {
    const now = performance.now()
    const level = Math.max(fullAt.get(caller) ?? 0, now) + costMs * count
    const waitMs = level - now - WINDOW_MS
    if (waitMs > ROUNDING_MS) return Math.ceil(waitMs / 1_000)
    if (!fullAt.has(caller) && fullAt.size >= CALLERS_MAX) deleteFullBuckets(fullAt, now)
    fullAt.set(caller, level)
    return 0
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
