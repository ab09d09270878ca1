import { newId } from '../../kernel/ids.ts'
import { type ClaimedJobBatch, jobLeaseEndFromNow } from './claims.ts'
import type { ClaimedJob } from './job-queries.ts'

/** A lease with which a new job is inserted, so that this process runs it without a claim. */
export type HandoverLease = { readonly id: string; readonly endsAt: number }
type HandedOverBatch = ClaimedJobBatch & { readonly rows: ClaimedJob[] }

/**
 * New jobs of one handler that were inserted with a lease of this process and wait to be run. `isBatched`: those that wait are
 * handled together, as claimed events are.
 */
export function createJobHandover(handler: string, { isBatched }: { isBatched: boolean }) {
  const waiting: HandedOverBatch[] = []
  let sharedLease = newId()

  return {
    isEmpty: (): boolean => waiting.length === 0,
    newLease: (): HandoverLease => ({ id: isBatched ? sharedLease : newId(), endsAt: jobLeaseEndFromNow() }),
    /** Adds a committed job. Returns its batch if it is new. */
    add: (
      { id: lease, endsAt: leaseEndsAt }: HandoverLease,
      row: ClaimedJob
    ): ClaimedJobBatch | undefined => {
      const present = waiting.find(each => each.lease === lease)
      if (present !== undefined) {
        present.rows.push(row)
        return undefined
      }
      const batch = { handler, lease, leaseEndsAt, rows: [row] }
      waiting.push(batch)
      return batch
    },
    /** Takes the batch that waits longest, with one row of each subject. */
    take: (): ClaimedJobBatch | undefined => {
      const batch = waiting.shift()
      if (batch === undefined) return undefined
      sharedLease = newId()
      const rows = batch.rows.toSorted((a, b) => a.id - b.id)
      const isFirstOfSubject = ({ subject }: ClaimedJob, index: number) =>
        rows.findIndex(each => each.subject === subject) === index
      const later = rows.filter((row, index) => !isFirstOfSubject(row, index))
      if (later.length > 0) waiting.unshift({ ...batch, rows: later })
      return { ...batch, rows: rows.filter(isFirstOfSubject) }
    }
  }
}
