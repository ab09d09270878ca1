/** Older measurements count less: after this time, by a factor of e. */
const MEMORY_MS = 1_000
/** The shortest time under load that says something. */
const MEASURED_MS_MIN = 400
/** A process that had no queue for so long is as one that has just started. */
const FORGOTTEN_MS = 1_000

/**
 * How many requests a second the process completes while requests wait for it. Measured only under load, because an idle
 * process completes as many as arrive.
 */
export function createCapacity() {
  let completed = 0
  let [tickedAt, loadedAt] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY]
  let wasLoaded = false
  const measured = { requests: 0, ms: 0 }

  return {
    /** Requests a second; undefined while it is not known. No tick forgets it, because an idle process has none. */
    perSecond(now: number): number | undefined {
      if (measured.ms < MEASURED_MS_MIN || now - loadedAt > FORGOTTEN_MS) return undefined
      return (measured.requests / measured.ms) * 1_000
    },
    completed(): void {
      completed += 1
    },
    /** Called every 50 ms. `isLoaded`: requests are waiting. */
    tick(now: number, isLoaded: boolean): void {
      const elapsedMs = now - tickedAt
      if (isLoaded && wasLoaded && elapsedMs < FORGOTTEN_MS) {
        const kept = Math.exp(-elapsedMs / MEMORY_MS)
        measured.requests = measured.requests * kept + completed
        measured.ms = measured.ms * kept + elapsedMs
        loadedAt = now
      } else if (now - loadedAt > FORGOTTEN_MS) Object.assign(measured, { requests: 0, ms: 0 })
      completed = 0
      tickedAt = now
      wasLoaded = isLoaded
    }
  }
}
