/** Time constant of the exponential average. */
const MEMORY_MS = 1_000
/** Shortest time under load that gives a measurement. */
const MEASURED_MS_MIN = 400
/** The measurement is discarded after this time without a queue. */
const EXPIRED_MS = 1_000

/**
 * Measures how many requests a second the process completes while requests wait. An idle process completes as many as
 * arrive, so it is not measured.
 */
export function createRequestThroughputMeter() {
  let requestCompleted = 0
  let [tickedAt, loadedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let wasLoaded = false
  const measured = { requests: 0, ms: 0 }

  return {
    /** Requests a second; undefined while unknown. Checks expiry itself, because an idle process has no ticks. */
    perSecond(now: number): number | undefined {
      if (measured.ms < MEASURED_MS_MIN || now - loadedAt > EXPIRED_MS) return undefined
      return (measured.requests / measured.ms) * 1_000
    },
    completed(): void {
      requestCompleted += 1
    },
    /** Called every 50 ms. `isLoaded`: whether requests are waiting. */
    tick(now: number, isLoaded: boolean): void {
      const elapsedMs = now - tickedAt
      if (isLoaded && wasLoaded && elapsedMs < EXPIRED_MS) {
        const kept = Math.exp(-elapsedMs / MEMORY_MS)
        measured.requests = measured.requests * kept + requestCompleted
        measured.ms = measured.ms * kept + elapsedMs
        loadedAt = now
      } else if (now - loadedAt > EXPIRED_MS) Object.assign(measured, { requests: 0, ms: 0 })
      requestCompleted = 0
      tickedAt = now
      wasLoaded = isLoaded
    }
  }
}
