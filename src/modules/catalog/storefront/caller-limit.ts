import { tooManyConcurrentListsError } from '../errors.ts'

const WAITING_MAX = 100
const WAIT_MS_MAX = 1_000

/**
 * Limits the concurrent work of each caller, so that one caller cannot occupy the database. Further work of
 * the caller waits in its own queue, up to a second.
 */
export function createCallerConcurrencyLimit(atOnceMax: number) {
  const lines = new Map<string, { running: number; waiting: (() => void)[] }>()

  /** @throws `CATALOG_LIST_LIMIT` */
  return async function limited<T>(caller: string, work: () => Promise<T>): Promise<T> {
    const arrivedAt = performance.now()
    const line = lines.get(caller) ?? { running: 0, waiting: [] }
    lines.set(caller, line)
    if (line.running < atOnceMax) line.running += 1
    else if (line.waiting.length < WAITING_MAX) await new Promise<void>(resolve => line.waiting.push(resolve))
    else throw tooManyConcurrentListsError({ retryAfterSeconds: 1 })
    try {
      if (performance.now() - arrivedAt > WAIT_MS_MAX)
        throw tooManyConcurrentListsError({ retryAfterSeconds: 1 })
      return await work()
    } finally {
      // The next waiting work takes over the slot; otherwise the slot is released.
      const next = line.waiting.shift()
      if (next === undefined) line.running -= 1
      else next()
      if (line.running === 0) lines.delete(caller)
    }
  }
}
