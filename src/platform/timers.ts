import { setTimeout as delay } from 'node:timers/promises'
import type { DomainError } from '../kernel/errors.ts'
import type { Log } from './log.ts'
import { databaseReadOnlyError } from './postgres/errors.ts'

/** Recurring work of this process, such as deleting expired rows. Every process runs its timers, so the work must allow that. */
export type Timers = {
  /** Runs `work` about every `seconds`. It returns how many items it processed; `signal` aborts it on shutdown. */
  every(seconds: number, name: string, work: (signal: AbortSignal) => Promise<number>): void
  /** Like `every`, for work in batches: repeats `workBatch` until it returns 0. */
  untilEmpty(seconds: number, name: string, workBatch: () => Promise<number>): void
  /** Cancels the pauses and waits for running work. */
  stop(): Promise<void>
}

/** `isReadOnly`: the process only reads, so a timer that tries to write does not run again. */
export function createTimers(log: Log, isReadOnly = false): Timers {
  const stopping = new AbortController()
  const running: Promise<void>[] = []

  const run = async (seconds: number, name: string, work: (signal: AbortSignal) => Promise<number>) => {
    while (!stopping.signal.aborted) {
      // Jitter, so that processes that start together do not keep working at the same moment.
      const pauseMs = seconds * 1_000 * (0.75 + Math.random() / 2)
      await delay(pauseMs, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (stopping.signal.aborted) return
      const startedAt = performance.now()
      try {
        const count = await work(stopping.signal)
        if (count > 0)
          log.info({ timer: name, count, ms: Math.round(performance.now() - startedAt) }, 'timer done')
      } catch (error) {
        if (isReadOnly && (error as DomainError).code === databaseReadOnlyError.code) return
        log.error({ timer: name, err: error }, 'timer failed')
      }
    }
  }

  const every: Timers['every'] = (seconds, name, work) => {
    running.push(run(seconds, name, work))
  }

  return {
    every,
    untilEmpty: (seconds, name, workBatch) =>
      every(seconds, name, async signal => {
        let total = 0
        for (;;) {
          const count = await workBatch()
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
