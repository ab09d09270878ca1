const FAILURES_MAX = 5
const PROBE_MS = 15_000

export type Clock = () => number

/**
 * Stops asking somebody who has not answered several times in a row; every 15 s one request finds out whether they do
 * again. Others learn at once that nothing is known.
 */
export function createBreaker(onClosed: () => void, now: Clock = () => performance.now()) {
  let failures = 0
  let probedAt = 0
  const isOpen = () => failures >= FAILURES_MAX

  const isAskable = () => !isOpen() || now() - probedAt >= PROBE_MS

  return {
    isOpen,
    /** Whether somebody who asks now would be let through. */
    isAskable,
    /** Whether to ask now. */
    admits: (): boolean => {
      if (!isAskable()) return false
      if (isOpen()) probedAt = now()
      return true
    },
    answered: () => {
      const wasOpen = isOpen()
      failures = 0
      if (wasOpen) onClosed()
    },
    failed: () => {
      failures += 1
      if (failures === FAILURES_MAX) probedAt = now()
    }
  }
}
