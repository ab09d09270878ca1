const FAILURES_MAX = 5
const PROBE_MS = 15_000

export type CircuitBreakerClock = () => number

/**
 * Circuit breaker: after five failures in a row it rejects requests immediately. One probe every 15 s finds out whether the
 * provider has recovered.
 */
export function createCircuitBreaker(
  onClosed: () => void = () => {},
  now: CircuitBreakerClock = () => performance.now()
) {
  let failures = 0
  let probedAt = 0
  const isOpen = () => failures >= FAILURES_MAX

  const isProbeDue = () => !isOpen() || now() - probedAt >= PROBE_MS

  return {
    isOpen,
    /** Whether a request would be admitted now. */
    isProbeDue,
    /** Admits or rejects a request. An admitted request during an outage is the probe. */
    tryAdmit: (): boolean => {
      if (!isProbeDue()) return false
      if (isOpen()) probedAt = now()
      return true
    },
    recordSuccess: () => {
      const wasOpen = isOpen()
      failures = 0
      if (wasOpen) onClosed()
    },
    recordFailure: () => {
      failures += 1
      if (failures === FAILURES_MAX) probedAt = now()
    }
  }
}
