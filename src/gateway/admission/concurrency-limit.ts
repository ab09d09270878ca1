/** Lowest limit, because fewer simultaneous requests do not keep two pipelined connections and the pool busy. */
const LIMIT_MIN = 64
/**
 * Target for the median duration: twice the shortest median, within these bounds. The shortest median distinguishes a distant
 * database from a busy one.
 */
const TARGET_MS = { min: 50, max: 100 }
/** The shortest median grows slowly, so that an outdated one is replaced. */
const QUICKEST_GROWTH = 1.001
/** Samples right after a change are ignored, because quick requests complete first. */
const SETTLE_MS = 2 * TARGET_MS.min
const SAMPLES_MIN = 20
const SAMPLES_MAX = 256

/**
 * Adapts the number of simultaneous requests so that the median takes about 50 ms. Further requests wait in the queue of
 * admission, which has priorities and a time limit. The event loop, the pool and PostgreSQL have neither. By Little's law one
 * measurement gives the excess, so the limit falls in one step; it rises in steps of a quarter. Measured on one core at twice
 * its capacity (2026-11): 0.82 of the capacity in good responses; with 100 ms instead of 50, 0.68. With a fixed limit of
 * 1,000 and a database that serves 400 a second, a response takes 2.5 s.
 */
export function createAdaptiveConcurrencyLimit(limitMax: number) {
  const limitMin = Math.min(LIMIT_MIN, limitMax)
  let limit = limitMin
  let quickestMs = Number.POSITIVE_INFINITY
  let changedAt = 0
  let wasReached = false
  let samples: number[] = []

  function change(now: number, to: number): void {
    limit = Math.max(limitMin, Math.min(limitMax, Math.round(to)))
    changedAt = now
  }

  return {
    value: () => limit,
    /** Records that a request had to wait. */
    noteReached(): void {
      wasReached = true
    },
    /** Records the duration of a request. Ignores requests that started under another limit. */
    sample(startedAt: number, now: number): void {
      if (startedAt < changedAt || now < changedAt + SETTLE_MS) return
      if (samples.length < SAMPLES_MAX) samples.push(now - startedAt)
    },
    /** Called a few times a second. */
    adjust(now: number): void {
      if (samples.length < SAMPLES_MIN) return
      const typicalMs = Math.max(0.1, median(samples))
      samples = []
      quickestMs = Math.min(quickestMs * QUICKEST_GROWTH, typicalMs)
      const targetMs = Math.min(TARGET_MS.max, Math.max(TARGET_MS.min, 2 * quickestMs))
      if (typicalMs > targetMs) change(now, limit * Math.max(0.3, targetMs / typicalMs))
      else if (wasReached) change(now, limit * 1.25)
      wasReached = false
    }
  }
}

function median(values: number[]): number {
  values.sort((a, b) => a - b)
  return values[values.length >> 1] as number
}
