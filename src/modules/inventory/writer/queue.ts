import type { StockOperation, StockOperationOutcome } from '../decisions/state.ts'
import { stockWriterBusyError } from '../errors.ts'

/** A queued operation whose caller waits for the outcome. */
export type QueuedStockOperation = {
  readonly operation: StockOperation
  /** Deadline of the operation, in milliseconds of the monotonic clock. */
  readonly deadlineAt: number
  readonly settle: (outcome: StockOperationOutcome) => void
  readonly fail: (error: unknown) => void
  /** Further items that the operation needs, found when it was first decided. */
  items: ReadonlySet<string>
}

/** The queue of operations for the next batches. */
export function createStockOperationQueue(entriesMax: number) {
  const entries: QueuedStockOperation[] = []
  /** Postponed entries. They fill at most half of a batch, so that new operations are not delayed. */
  let postponed: QueuedStockOperation[] = []

  const size = () => postponed.length + entries.length

  /** @throws `INVENTORY_BUSY` when the queue is full. */
  function push(operation: StockOperation, deadlineAt: number): Promise<StockOperationOutcome> {
    if (size() >= entriesMax) throw stockWriterBusyError({ retryAfterSeconds: 1 })
    const { promise, resolve: settle, reject: fail } = Promise.withResolvers<StockOperationOutcome>()
    entries.push({ operation, deadlineAt, settle, fail, items: new Set() })
    return promise
  }

  /** Takes up to one batch of entries, in order. Expired entries fail. */
  function take({
    operationsMax,
    linesMax
  }: {
    operationsMax: number
    linesMax: number
  }): QueuedStockOperation[] {
    const now = performance.now()
    const taken: QueuedStockOperation[] = []
    let lines = 0
    const takeFrom = (waiting: QueuedStockOperation[], share: number): void => {
      let at = 0
      for (; at < waiting.length && taken.length < operationsMax * share; at += 1) {
        const entry = waiting[at] as QueuedStockOperation
        lines += linesOf(entry.operation)
        if (lines > linesMax * share && taken.length > 0) break
        if (entry.deadlineAt > now) taken.push(entry)
        else entry.fail(stockWriterBusyError({ retryAfterSeconds: 1 }))
      }
      waiting.splice(0, at)
    }
    takeFrom(postponed, 1 / 2)
    takeFrom(entries, 1)
    return taken
  }

  /** Postpones entries to a later batch. */
  function postpone(late: readonly QueuedStockOperation[]): void {
    postponed = [...postponed, ...late]
  }

  return { push, take, putOff: postpone, size }
}

function linesOf(operation: StockOperation): number {
  if ('needs' in operation) return operation.needs.length
  if ('lines' in operation) return operation.lines.length
  if ('itemIds' in operation) return operation.itemIds.length
  return 'parts' in operation ? (operation.parts?.length ?? 1) : 1
}
