import { AsyncLocalStorage } from 'node:async_hooks'
import { DomainError } from '../../../kernel/errors.ts'
import { databaseBusyError } from '../errors.ts'

type BatchedCall<I, O> = {
  item: I
  since: number
  inContext: ReturnType<typeof AsyncLocalStorage.snapshot>
  resolve(made: O): void
  reject(error: unknown): void
}

/** Two batches run concurrently, so that one runs while the disk writes the other. */
const UNDER_WAY_MAX = 2
const SIZE_MAX = 64

/** See `Database.batchCalls`. A call that waits longer than `waitMs` for its batch is rejected with `DATABASE_BUSY`. */
export function createCallBatcher<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  waitMs: number
): (item: I) => Promise<O> {
  const waiting: BatchedCall<I, O>[] = []
  let underWay = 0
  let isSet = false

  /** Waits one turn of the event loop, so that calls that arrive together share a batch. */
  function setOff(): void {
    if (isSet) return
    isSet = true
    setImmediate(() => {
      isSet = false
      while (waiting.length > 0 && underWay < UNDER_WAY_MAX) run(waiting.splice(0, SIZE_MAX))
    })
  }

  async function run(callers: readonly BatchedCall<I, O>[]): Promise<void> {
    const latest = performance.now() - waitMs
    const [inTime, late] = [
      callers.filter(each => each.since >= latest),
      callers.filter(each => each.since < latest)
    ]
    for (const { reject } of late) reject(databaseBusyError({ retryAfterSeconds: 1 }))
    underWay += 1
    // A batch runs in the async context of its first caller, not in that of the batch before.
    await inTime[0]?.inContext(settle, inTime)
    underWay -= 1
    setOff()
  }

  async function settle(callers: readonly BatchedCall<I, O>[]): Promise<void> {
    if (callers.length === 0) return
    try {
      const made = await work(callers.map(({ item }) => item))
      for (const [index, { resolve }] of callers.entries()) resolve(made[index] as O)
    } catch (error) {
      // After a lost connection the outcome is unknown, so nothing is retried.
      const isRefused = !(error instanceof DomainError && error.kind === 'unavailable')
      if (isRefused && callers.length > 1) for (const caller of callers) await settle([caller])
      else for (const { reject } of callers) reject(error)
    }
  }

  return item =>
    new Promise((resolve, reject) => {
      const inContext = AsyncLocalStorage.snapshot()
      waiting.push({ item, since: performance.now(), inContext, resolve, reject })
      setOff()
    })
}
