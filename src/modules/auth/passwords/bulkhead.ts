import { busy } from '../errors.ts'

export type BulkheadLimits = {
  atOnce: number
  queueMax: number
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

  const enter = (): Promise<void> | undefined => {
    if (running < atOnce) {
      running += 1
      return undefined
    }
    if (waiting.size >= queueMax) throw busy({ retryAfterSeconds: 1 })
    return new Promise((resolve, reject) => {
      const admit = () => {
        clearTimeout(timer)
        resolve()
      }
      const timer = setTimeout(() => {
        waiting.delete(admit)
        reject(busy({ retryAfterSeconds: 1 }))
      }, waitMs)
      waiting.add(admit)
    })
  }
  // A place is handed on, not given back: nobody who comes later can take it first.
  const leave = () => {
    const [next] = waiting
    if (next === undefined) {
      running -= 1
      return
    }
    waiting.delete(next)
    next()
  }

  return async function run<T>(work: () => Promise<T>): Promise<T> {
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
