import { databaseBusyError } from '../errors.ts'

/** Serializes work with the same key, first come, first served. */
export function createKeyedQueue() {
  const lasts = new Map<string, Promise<void>>()

  return {
    /** Whether work with this key runs or waits. */
    isTaken: (key: string): boolean => lasts.has(key),
    /** Runs `work` after earlier work with this key. @throws `DATABASE_BUSY` when the deadline passes first. */
    async take<T>(key: string, deadlineAt: number, work: () => Promise<T>): Promise<T> {
      const before = lasts.get(key)
      const { promise: mine, resolve: leave } = Promise.withResolvers<void>()
      const last = before === undefined ? mine : before.then(() => mine)
      lasts.set(key, last)
      try {
        if (before !== undefined) await until(before, deadlineAt)
        return await work()
      } finally {
        leave()
        if (lasts.get(key) === last) lasts.delete(key)
      }
    }
  }
}

async function until(turn: Promise<void>, deadlineAt: number): Promise<void> {
  const { promise: tooLate, reject } = Promise.withResolvers<never>()
  const leftMs = Math.min(deadlineAt - performance.now(), 2 ** 31 - 1)
  const timer = setTimeout(() => reject(databaseBusyError({ retryAfterSeconds: 1 })), leftMs)
  try {
    await Promise.race([turn, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
