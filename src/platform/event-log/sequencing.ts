/** Ids from the first to the last, both included. */
export type EventIdRange = { readonly from: number; readonly to: number }
type UnpositionedEvent = { readonly id: number; readonly ageSeconds: number }
/** The log as one snapshot sees it. */
export type EventLogSnapshot = {
  /** Every id up to this one has a position, is skipped, or was rolled back. */
  readonly lastId: number
  readonly skipped: readonly EventIdRange[]
  /** Committed events without a position, by id: those after `lastId` and those in `skipped`. */
  readonly events: readonly UnpositionedEvent[]
  /** Every transaction that drew an id up to this one has ended. */
  readonly endedId: number
}
/** The next batch. Its positions follow the order of `ids`. */
export type NextEventLogBatch = {
  readonly ids: readonly number[]
  readonly lastId: number
  readonly skipped: readonly EventIdRange[]
  /** Whether an event waits for an earlier id whose transaction may still commit. */
  readonly isWaiting: boolean
}

/**
 * Chooses the events that get the next positions. They follow the order of their ids; an id that is missing belongs to a
 * transaction that is open or was rolled back. Later events wait for it up to `waitSeconds`, then it is skipped: if it
 * commits after all, it gets the next position at that time.
 */
export function chooseNextEventLogBatch(
  { lastId, skipped, events, endedId }: EventLogSnapshot,
  waitSeconds: number
): NextEventLogBatch {
  const late = events.filter(({ id }) => id <= lastId).map(({ id }) => id)
  const ids = [...late]
  const open = withoutIds(skipped, late)
  let last = lastId
  let isWaiting = false
  for (const { id, ageSeconds } of events.filter(each => each.id > lastId)) {
    const missing = { from: Math.max(last, endedId) + 1, to: id - 1 }
    if (missing.from <= missing.to) {
      isWaiting = ageSeconds < waitSeconds
      if (isWaiting) break
      open.push(missing)
    }
    ids.push(id)
    last = id
  }
  return { ids, lastId: last, skipped: open.filter(({ to }) => to > endedId), isWaiting }
}

/** Returns the ranges without these ids. Both are sorted. */
function withoutIds(ranges: readonly EventIdRange[], ids: readonly number[]): EventIdRange[] {
  return ranges.flatMap(({ from, to }) => {
    const left: EventIdRange[] = []
    let start = from
    for (const id of ids.filter(each => each >= from && each <= to)) {
      if (start < id) left.push({ from: start, to: id - 1 })
      start = id + 1
    }
    return start <= to ? [...left, { from: start, to }] : left
  })
}
