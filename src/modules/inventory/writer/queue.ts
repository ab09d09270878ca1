import { inventoryBusy } from '../errors.ts'
import type { Operation, Outcome } from '../stock/state.ts'

/** An operation that somebody waits for. */
export type Entry = {
  readonly operation: Operation
  /** On the monotonic clock, in milliseconds. */
  readonly deadlineAt: number
  readonly settle: (outcome: Outcome) => void
  readonly fail: (error: unknown) => void
  /** Items that it turned out to need beside those that it names. */
  items: ReadonlySet<string>
}

const COMPACTED_AT = 1_000

/** What waits for the next batch, in its order. */
export function createQueue(entriesMax: number) {
  let entries: Entry[] = []
  let first = 0
  /** Those that had to be put off; they may fill half of a batch, so that they hold nobody else up. */
  let aside: Entry[] = []

  const size = () => aside.length + entries.length - first

  /** @throws `INVENTORY_BUSY` when it is full. */
  function push(operation: Operation, deadlineAt: number): Promise<Outcome> {
    if (size() >= entriesMax) throw inventoryBusy({ retryAfterSeconds: 1 })
    const { promise, resolve: settle, reject: fail } = Promise.withResolvers<Outcome>()
    entries.push({ operation, deadlineAt, settle, fail, items: new Set() })
    return promise
  }

  /** As many as one batch may have, in their order, without those who wait no more. */
  function take({ operationsMax, linesMax }: { operationsMax: number; linesMax: number }): Entry[] {
    const now = performance.now()
    const taken: Entry[] = []
    let lines = 0
    /** How many of these were looked at. */
    const takeFrom = (waiting: readonly Entry[], from: number, share: number): number => {
      let at = from
      for (; at < waiting.length && taken.length < operationsMax * share; at += 1) {
        const entry = waiting[at] as Entry
        lines += linesOf(entry.operation)
        if (lines > linesMax * share && taken.length > 0) break
        if (entry.deadlineAt > now) taken.push(entry)
        else entry.fail(inventoryBusy({ retryAfterSeconds: 1 }))
      }
      return at
    }
    aside = aside.slice(takeFrom(aside, 0, 1 / 2))
    first = takeFrom(entries, first, 1)
    if (first >= COMPACTED_AT) {
      entries = entries.slice(first)
      first = 0
    }
    return taken
  }

  /** Puts entries off to a later batch. */
  function putOff(late: readonly Entry[]): void {
    aside = [...aside, ...late]
  }

  return { push, take, putOff, size }
}

function linesOf(operation: Operation): number {
  if ('needs' in operation) return operation.needs.length
  if ('lines' in operation) return operation.lines.length
  if ('itemIds' in operation) return operation.itemIds.length
  return 'parts' in operation ? (operation.parts?.length ?? 1) : 1
}
