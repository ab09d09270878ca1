import { newId } from '../../kernel/ids.ts'
import type { Log } from '../log.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import * as backlog from './backlog-queries.ts'
import * as repository from './job-queries.ts'
import type { OutboxBacklog } from './metrics.ts'
import { jobRetryDelaySeconds } from './retry-delay.ts'

/** Events or jobs of one handler that this process has claimed until the lease expires. */
export type ClaimedJobBatch = {
  readonly handler: string
  readonly lease: string
  /** When other processes may claim the rows, in milliseconds of `performance.now()`. */
  leaseEndsAt: number
  readonly rows: readonly repository.ClaimedJob[]
}
/** The row of a recurring job, which all processes share. */
export type RecurringJobScheduleRow = {
  readonly handler: string
  readonly subject: string
  readonly eventId: string
  readonly firstDelaySeconds: number
}
/** The abort reason of a handler whose lease has expired or soon will, because another process may claim its rows. */
export class JobLeaseLostError extends Error {}
export type OutboxJobClaims = ReturnType<typeof createOutboxJobClaims>

const CLAIM_MS_MAX = 2_000
const ERROR_CHARACTERS_MAX = 2_000
/** Other processes take over the rows of a dead process after this time. */
export const JOB_LEASE_SECONDS = 15
/** A lease that is not renewed this long before its end is abandoned, so two processes never handle the same rows. */
const ABANDONED_BEFORE_END_MS = 6_000
/** Tolerance for different clock speeds of this process and the database server. */
const LEASE_MARGIN_MS = 500
/**
 * Session settings that force claims to read an index. A plan made while the table was small would scan and sort the whole
 * backlog. With 50,000 rows, a claim of 200 took 120 ms instead of 2 (2026-11-21).
 */
export const INDEX_SCAN_SETTINGS = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off'
}

/** When a lease that is written now ends, in milliseconds of `performance.now()`. */
export const jobLeaseEndFromNow = () => performance.now() + JOB_LEASE_SECONDS * 1_000 - LEASE_MARGIN_MS

/** Parameters of `insertMissingSchedules`, sorted, so that processes lock rows in the same order and cannot deadlock. */
export function recurringScheduleInsertParameters(schedules: readonly RecurringJobScheduleRow[]) {
  const sorted = schedules.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
  return {
    handlers: sorted.map(({ handler }) => handler),
    subjects: sorted.map(({ subject }) => subject),
    eventIds: sorted.map(({ eventId }) => eventId),
    delaysSeconds: sorted.map(({ firstDelaySeconds }) => firstDelaySeconds)
  }
}

/**
 * Claims, renews and settles rows on dedicated connections, so that handlers never delay it. Looks for due rows over the
 * shared connections, so that a process without work needs no other.
 */
export function createOutboxJobClaims(db: Pick<Database, 'dedicated' | 'first' | 'rows'>, log: Log) {
  const settings = { settings: INDEX_SCAN_SETTINGS, statementTimeoutMs: CLAIM_MS_MAX }
  const claimConnection = db.dedicated(settings)
  /** A separate connection, because many concurrent claims would delay renewals past the lease. */
  const renewalConnection = db.dedicated(settings)
  /** Unsettled claims, which are released at stop. */
  const unsettledClaims = new Map<string, ClaimedJobBatch>()
  /** Claims whose lease is renewed. */
  const renewedClaims = new Map<
    string,
    { readonly claimed: ClaimedJobBatch; readonly lost: AbortController }
  >()

  /** Returns `undefined` when the database does not answer; leases then expire and rows are claimed again. */
  async function runBriefly<T>(
    work: (tx: Transaction) => Promise<T>,
    over = claimConnection
  ): Promise<T | undefined> {
    const attempt = await over.attempt(work, { deadlineAt: performance.now() + CLAIM_MS_MAX })
    if (attempt.kind === 'undone') log.debug({ err: attempt.error }, 'outbox query failed')
    return attempt.kind === 'done' ? attempt.value : undefined
  }

  /** Returns `undefined` when the database does not answer; the next poll looks again. */
  const lookFor = <T>(reading: Promise<T>): Promise<T | undefined> =>
    reading.catch((error: unknown) => {
      log.debug({ err: error }, 'outbox query failed')
      return undefined
    })

  const keysOf = ({ handler, lease }: ClaimedJobBatch, rows: readonly repository.ClaimedJob[]) => ({
    handler,
    lease,
    subjects: rows.map(({ subject }) => subject),
    ids: rows.map(({ id }) => id)
  })

  async function release(claimed: ClaimedJobBatch, rows = claimed.rows, delaySeconds = 0): Promise<void> {
    await runBriefly(tx => tx.run(repository.releaseJobs, { ...keysOf(claimed, rows), delaySeconds }))
  }

  /** Renews the lease until the claim is settled. The signal aborts with `JobLeaseLostError` when that fails. */
  function keepRenewing(claimed: ClaimedJobBatch): AbortSignal {
    const lost = new AbortController()
    renewedClaims.set(claimed.lease, { claimed, lost })
    return lost.signal
  }

  return {
    /** Holds rows that were inserted with a lease until they are settled. */
    adopt: (claimed: ClaimedJobBatch): void => {
      unsettledClaims.set(claimed.lease, claimed)
      keepRenewing(claimed)
    },
    /** Claims up to `limit` due rows of a handler. Returns undefined when none is due. */
    claim: async (handler: string, limit: number): Promise<ClaimedJobBatch | undefined> => {
      const lease = newId()
      const leaseEndsAt = jobLeaseEndFromNow()
      const rows = await runBriefly(tx =>
        tx.rows(repository.claimJobs, { handler, limit, lease, seconds: JOB_LEASE_SECONDS })
      )
      if (rows === undefined || rows.length === 0) return undefined
      const claimed = { handler, lease, leaseEndsAt, rows: rows.toSorted((a, b) => a.id - b.id) }
      unsettledClaims.set(lease, claimed)
      return claimed
    },
    keepRenewing,
    /** Renews all leases of `keepRenewing` in one statement. */
    renewAll: async (): Promise<void> => {
      const all = [...renewedClaims.values()]
      if (all.length === 0) return
      const leaseEndsAt = jobLeaseEndFromNow()
      const jobs = all.flatMap(({ claimed }) => claimed.rows.map(row => ({ ...row, ...claimed })))
      const keys = {
        handlers: jobs.map(({ handler }) => handler),
        subjects: jobs.map(({ subject }) => subject),
        ids: jobs.map(({ id }) => id),
        leases: jobs.map(({ lease }) => lease)
      }
      const renewed = await runBriefly(
        tx => tx.rows(repository.renewJobLeases, { ...keys, seconds: JOB_LEASE_SECONDS }),
        renewalConnection
      )
      const leases = new Set(renewed?.map(({ lease }) => lease))
      for (const { claimed, lost } of all)
        if (leases.has(claimed.lease)) claimed.leaseEndsAt = leaseEndsAt
        else if (performance.now() + ABANDONED_BEFORE_END_MS > claimed.leaseEndsAt)
          lost.abort(new JobLeaseLostError())
    },
    /** Ends a claim whose rows were all handled or released. Its lease is no longer renewed. */
    settle: ({ lease }: ClaimedJobBatch) => {
      unsettledClaims.delete(lease)
      renewedClaims.delete(lease)
    },
    keysOf,
    release,
    /** Records a failed attempt. Returns true when it was the last. */
    recordFailure: async (
      { handler, lease }: ClaimedJobBatch,
      { subject, id, attempts }: repository.ClaimedJob,
      reason: unknown,
      delaySecondsMax?: number
    ): Promise<boolean> => {
      const retryDelay = jobRetryDelaySeconds(attempts, Math.random())
      // A schedule is never dead.
      const delaySeconds =
        delaySecondsMax === undefined ? retryDelay : Math.min(retryDelay ?? delaySecondsMax, delaySecondsMax)
      const error = String(reason).replaceAll('\0', '').slice(0, ERROR_CHARACTERS_MAX)
      await runBriefly(tx =>
        tx.run(repository.recordJobFailure, { handler, subject, id, lease, error, delaySeconds })
      )
      return delaySeconds === null
    },
    /** Creates missing schedules. Returns true when all exist. */
    ensureSchedules: async (schedules: readonly RecurringJobScheduleRow[]): Promise<boolean> => {
      const { handlers, subjects, ...others } = recurringScheduleInsertParameters(schedules)
      const found = await lookFor(db.first(repository.countSchedules, { handlers, subjects }))
      if (found?.total === schedules.length) return true
      const missing = { handlers, subjects, ...others }
      return (await runBriefly(tx => tx.run(repository.insertMissingSchedules, missing))) !== undefined
    },
    findHandlersWithDueJobs: async (handlers: readonly string[]) =>
      (await lookFor(db.rows(repository.findHandlersWithDueJobs, { handlers }))) ?? [],
    /**
     * In one process of the shop: postpones rows that wait for a failed one of their subject, and measures the backlog. Returns
     * null in the others.
     */
    postponeAndMeasure: (): Promise<OutboxBacklog | null | undefined> =>
      runBriefly(async tx => {
        if (!(await tx.first(backlog.tryLockBacklogMeasurement))?.is_mine) return null
        await tx.run(backlog.postponeJobsBehindFailed)
        return tx.first(backlog.measureOutboxBacklog)
      }),
    close: async () => {
      for (const claimed of unsettledClaims.values()) await release(claimed)
      await Promise.all([claimConnection.close(), renewalConnection.close()])
    }
  }
}
