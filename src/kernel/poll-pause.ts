const PAUSE_MS = 1_000
const IDLE_PAUSE_MS = 5_000
const IDLE_AFTER_MS = 10_000

/**
 * The pause between two polls for work that other processes have left: a second, or five when there was no work for ten
 * seconds. This process is woken for its own work.
 */
export function createPollPause() {
  let workedAt = performance.now()
  return {
    /** There is work. */
    worked: (): void => {
      workedAt = performance.now()
    },
    /** Has jitter, so that processes that start together do not keep polling at the same moment. */
    ms: (): number =>
      (performance.now() - workedAt < IDLE_AFTER_MS ? PAUSE_MS : IDLE_PAUSE_MS) * (0.75 + Math.random() / 2)
  }
}
