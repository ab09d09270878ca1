import { AsyncLocalStorage } from 'node:async_hooks'
import { DomainError } from '../../kernel/errors.ts'
import { databaseBusy } from './errors.ts'

type Caller<I, O> = {
  item: I
  since: number
  inContext: ReturnType<typeof AsyncLocalStorage.snapshot>
  resolve(made: O): void
  reject(error: unknown): void
}

/** Two, so that one is decided about while the disk writes the other. */
const UNDER_WAY_MAX = 2
const SIZE_MAX = 64

/** See `Database.inBatches`. Whoever waited longer than `waitMs` for a batch is refused. */
export function inBatches<I, O>(
  work: (items: readonly I[]) => Promise<readonly O[]>,
  waitMs: number
): (item: I) => Promise<O> {
  const waiting: Caller<I, O>[] = []
  let underWay = 0
  let isSet = false

  /** At the end of this turn of the event loop, so that those who come in the same turn go together. */
  function setOff(): void {
    if (isSet) return
    isSet = true
    setImmediate(() => {
      isSet = false
      while (waiting.length > 0 && underWay < UNDER_WAY_MAX) run(waiting.splice(0, SIZE_MAX))
    })
  }

  async function run(callers: readonly Caller<I, O>[]): Promise<void> {
    const latest = performance.now() - waitMs
    const [inTime, late] = [
      callers.filter(each => each.since >= latest),
      callers.filter(each => each.since < latest)
    ]
    for (const { reject } of late) reject(databaseBusy({ retryAfterSeconds: 1 }))
    underWay += 1
    // Not in the context of the caller whose batch ended before this one.
    await inTime[0]?.inContext(settle, inTime)
    underWay -= 1
    setOff()
  }

  async function settle(callers: readonly Caller<I, O>[]): Promise<void> {
    if (callers.length === 0) return
    try {
      const made = await work(callers.map(({ item }) => item))
      for (const [index, { resolve }] of callers.entries()) resolve(made[index] as O)
    } catch (error) {
      // Nothing is known of what a lost connection had committed: that is not done again.
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
