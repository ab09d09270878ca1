import { databaseBusy } from './errors.ts'

/** Lets work with the same key be done one after another, first come first served. */
export function createTurns() {
  const lasts = new Map<string, Promise<void>>()

  return {
    /** Whether somebody's turn has not ended yet. */
    isTaken: (key: string): boolean => lasts.has(key),
    /** Does `work` when it is its turn. @throws `DATABASE_BUSY` when that is not before the deadline. */
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
  const timer = setTimeout(() => reject(databaseBusy({ retryAfterSeconds: 1 })), leftMs)
  try {
    await Promise.race([turn, tooLate])
  } finally {
    clearTimeout(timer)
  }
}
