const WINDOW_MS = 60_000
const CALLERS_MAX = 200_000
const ROUNDING_MS = 0.01 // sums of fractions are not exact, and the last request of a budget is still within it

/**
 * A budget of requests a minute for each caller, refilled evenly (token bucket, kept as the time at which the
 * bucket is full again: one number a caller, no timers). In this process: N processes allow N times as much.
 */
export function createBudget(perMinute: number) {
  const costMs = WINDOW_MS / perMinute
  const fullAt = new Map<string, number>()

  /**
   * Takes one request from the caller's budget, or so many at once; below zero, gives them back. Returns how many seconds to
   * wait when there are not as many left, else 0.
   */
  return function take(caller: string, count = 1): number {
    const now = performance.now()
    const level = Math.max(fullAt.get(caller) ?? 0, now) + costMs * count
    const waitMs = level - now - WINDOW_MS
    if (waitMs > ROUNDING_MS) return Math.ceil(waitMs / 1_000)
    if (!fullAt.has(caller) && fullAt.size >= CALLERS_MAX) forgetFull(fullAt, now)
    fullAt.set(caller, level)
    return 0
  }
}

/** Callers whose bucket is full again need no entry; if all are busy, the oldest half goes. */
function forgetFull(fullAt: Map<string, number>, now: number): void {
  for (const [caller, level] of fullAt) if (level <= now) fullAt.delete(caller)
  for (const caller of fullAt.keys()) {
    if (fullAt.size < CALLERS_MAX / 2) return
    fullAt.delete(caller)
  }
}
