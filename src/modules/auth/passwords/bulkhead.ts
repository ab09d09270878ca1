import { busy as passwordsBusy } from '../errors.ts'

/** Work that has waited for so long and will not begin in time is refused then; the rest is kept until it begins. */
const JUDGED_MS = 1_250

export type BulkheadLimits = {
  atOnce: number
  queueMax: number
  /** How long work may wait, by the rate at which work was done while it waited. */
  waitMs: number
  /** A place rests for as long as it was used, so that the work takes half of the processors that it could take. */
  rests?: boolean
}

/**
 * Lets a few pieces of expensive work run at once, a few more wait for a short while, and refuses the rest, so that
 * a storm of log-ins costs a bounded share of the machine. @throws `AUTH_BUSY` for what is refused.
 */
export function createBulkhead({ atOnce, queueMax, waitMs, rests = false }: BulkheadLimits) {
  const waiting = new Set<() => void>()
  let running = 0
  /** Since work began to wait: when that was, and how much was done. */
  const busy = { since: 0, done: 0 }

  function requireRoom(): void {
    if (running >= atOnce && waiting.size >= queueMax) throw passwordsBusy({ retryAfterSeconds: 1 })
  }
  const enter = (): Promise<void> | undefined => {
    requireRoom()
    if (running < atOnce) {
      running += 1
      return undefined
    }
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer)
        resolve()
      }
      const judgedMs = Math.min(JUDGED_MS, waitMs)
      const timer = setTimeout(() => {
        const before = [...waiting].indexOf(admit) + 1
        const msEach = (performance.now() - busy.since) / Math.max(1, busy.done)
        if (judgedMs + before * msEach <= waitMs) return
        waiting.delete(admit)
        reject(passwordsBusy({ retryAfterSeconds: 1 }))
      }, judgedMs)
      if (waiting.size === 0) Object.assign(busy, { since: performance.now(), done: 0 })
      waiting.add(admit)
    })
  }
  // A place is handed on, not given back: nobody who comes later can take it first.
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
    /** @throws `AUTH_BUSY` when `run` would refuse immediately: for what comes before it. */
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
