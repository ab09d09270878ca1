import { passwordChecksBusyError as passwordsBusy } from '../errors.ts'

/** Milliseconds after which queued work is rejected, unless it is expected to start in time. */
const DECISION_MS = 1_250

export type PasswordWorkQueueLimits = {
  concurrency: number
  queueMax: number
  /** Longest expected wait, estimated from the completion rate. */
  waitMs: number
  /** Pauses after each piece of work for as long as it took, so that it uses half of the CPU time. */
  isThrottled?: boolean
}

/**
 * Limits expensive work, so that many logins take a bounded share of the CPU. Runs a few pieces simultaneously, queues some
 * for a short time, and rejects the rest. @throws `AUTH_BUSY` for rejected work.
 */
export function createPasswordWorkQueue({
  concurrency,
  queueMax,
  waitMs,
  isThrottled: rests = false
}: PasswordWorkQueueLimits) {
  const waiting = new Set<() => void>()
  let running = 0
  /** Start of the current queue, and work completed since then. */
  const busy = { since: 0, done: 0 }

  function requireRoom(): void {
    if (running >= concurrency && waiting.size >= queueMax) throw passwordsBusy({ retryAfterSeconds: 1 })
  }
  const enter = (): Promise<void> | undefined => {
    requireRoom()
    if (running < concurrency) {
      running += 1
      return undefined
    }
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer)
        resolve()
      }
      const decisionMs = Math.min(DECISION_MS, waitMs)
      const timer = setTimeout(() => {
        const before = [...waiting].indexOf(admit) + 1
        const msEach = (performance.now() - busy.since) / Math.max(1, busy.done)
        if (decisionMs + before * msEach <= waitMs) return
        waiting.delete(admit)
        reject(passwordsBusy({ retryAfterSeconds: 1 }))
      }, decisionMs)
      if (waiting.size === 0) Object.assign(busy, { since: performance.now(), done: 0 })
      waiting.add(admit)
    })
  }
  // The slot passes directly to the next work in the queue, so that newer work cannot overtake it.
  const leave = () => {
    busy.done += 1
    const [next] = waiting
    if (next === undefined) {
      running -= 1
      return
    }
    waiting.delete(next)
    next()
  }

  return {
    /** Checks early, before preparing work. @throws `AUTH_BUSY` when `run` would reject immediately. */
    requireRoom,
    async run<T>(work: () => Promise<T>): Promise<T> {
      await enter()
      const startedAt = performance.now()
      try {
        return await work()
      } finally {
        if (rests) setTimeout(leave, performance.now() - startedAt)
        else leave()
      }
    }
  }
}
