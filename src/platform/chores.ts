import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'

/** Small recurring work of this process, such as deleting what has expired. Safe to run in every process at once. */
export type Chores = {
  /** Runs `work` about every `seconds`; it answers how many things it did, and gets a signal that ends it early. */
  every(seconds: number, name: string, work: (signal: AbortSignal) => Promise<number>): void
  /** The same for work done in batches: repeated until a batch finds nothing to do. */
  sweep(seconds: number, name: string, deleteSome: () => Promise<number>): void
  /** Ends the pauses at once and waits for the work under way. */
  stop(): Promise<void>
}

export function createChores(log: Log): Chores {
  const stopping = new AbortController()
  const running: Promise<void>[] = []

  const run = async (seconds: number, name: string, work: (signal: AbortSignal) => Promise<number>) => {
    while (!stopping.signal.aborted) {
      // Jitter, so that processes started together do not work at the same instant for ever.
      const pauseMs = seconds * 1_000 * (0.75 + Math.random() / 2)
      await delay(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (stopping.signal.aborted) return
      const startedAt = performance.now()
      try {
        const count = await work(stopping.signal)
        if (count > 0)
          log.info({ chore: name, count, ms: Math.round(performance.now() - startedAt) }, 'chore done')
      } catch (error) {
        log.error({ chore: name, err: error }, 'chore failed')
      }
    }
  }

  const every: Chores['every'] = (seconds, name, work) => {
    running.push(run(seconds, name, work))
  }

  return {
    every,
    sweep: (seconds, name, deleteSome) =>
      every(seconds, name, async signal => {
        let total = 0
        for (;;) {
          const count = await deleteSome()
          total += count
          if (count === 0 || signal.aborted) return total
        }
      }),
    stop: async () => {
      stopping.abort()
      await Promise.all(running)
    }
  }
}
