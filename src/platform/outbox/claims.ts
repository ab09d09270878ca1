import { newId } from '../../kernel/ids.ts'
import type { Log } from '../log.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { Backlog } from './metrics.ts'
import { pauseSeconds } from './pauses.ts'
import * as repository from './rows.ts'

/** Rows of one handler that this process has claimed until the lease expires. */
export type ClaimedJob = {
  readonly handler: string
  readonly lease: string
  /** When other processes may claim them, on the monotonic clock. */
  endsAt: number
  readonly rows: readonly repository.ClaimedRow[]
}
export type Schedule = {
  readonly handler: string
  readonly subject: string
  readonly eventId: string
  /** Delay of its first run. */
  readonly pauseSeconds: number
}
/** The lease expired or soon will, so another process may claim the rows. */
export class LeaseLost extends Error {}
export type OutboxClaims = ReturnType<typeof createClaims>

const ANSWER_MS_MAX = 2_000
const ERROR_LENGTH_MAX = 2_000
/** After this long other processes take over the rows of a dead process. */
const LEASE_SECONDS = 15
/** A lease that is not renewed this long before its end is abandoned, so that two processes never handle the same rows. */
const GIVEN_UP_MS = 6_000
/** Tolerance for different clock speeds of process and server. */
const LEASE_MARGIN_MS = 500
/**
 * Session settings for claims. A plan from when the table was small must not scan and sort a whole backlog: with 50,000
 * rows, a claim of 200 took 120 ms instead of 2 (2026-11-21).
 */
export const BY_INDEX = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off'
}

const leaseFromNow = () => performance.now() + LEASE_SECONDS * 1_000 - LEASE_MARGIN_MS

/** Parameters of `ensureSchedules`, sorted, so that processes lock rows in the same order and cannot deadlock. */
export function placesOfSchedules(schedules: readonly Schedule[]) {
  const sorted = schedules.toSorted((a, b) => (a.subject < b.subject ? -1 : 1))
  return {
    handlers: sorted.map(({ handler }) => handler),
    subjects: sorted.map(({ subject }) => subject),
    eventIds: sorted.map(({ eventId }) => eventId),
    pauseSeconds: sorted.map(({ pauseSeconds: pause }) => pause)
  }
}

/** Claims, renews and settles rows on dedicated connections, so that handlers never delay it. */
export function createClaims(db: Pick<Database, 'dedicated'>, log: Log) {
  const dedicated = db.dedicated({ settings: BY_INDEX })
  /** A separate connection, because many concurrent claims would delay renewals past the lease. */
  const forRenewals = db.dedicated({ settings: BY_INDEX })
  /** Unsettled claims, which are released at stop. */
  const held = new Map<string, ClaimedJob>()
  /** Claims whose lease is renewed. */
  const kept = new Map<string, { readonly claimed: ClaimedJob; readonly lost: AbortController }>()

  /** Returns `undefined` when the database does not answer; leases then expire and rows are claimed again. */
  async function ask<T>(work: (tx: Transaction) => Promise<T>, over = dedicated): Promise<T | undefined> {
    const attempt = await over.attempt(work, { deadlineAt: performance.now() + ANSWER_MS_MAX })
    if (attempt.kind === 'undone') log.debug({ err: attempt.error }, 'events cannot be looked at')
    return attempt.kind === 'done' ? attempt.value : undefined
  }

  const placesOf = ({ handler, lease }: ClaimedJob, rows: readonly repository.ClaimedRow[]) => ({
    handler,
    lease,
    subjects: rows.map(({ subject }) => subject),
    ids: rows.map(({ id }) => id)
  })

  async function giveBack(claimed: ClaimedJob, rows = claimed.rows, pauseSeconds = 0): Promise<void> {
    await ask(tx => tx.run(repository.giveBack, { ...placesOf(claimed, rows), pauseSeconds }))
  }

  return {
    /** Returns undefined when nothing is due. */
    claim: async (handler: string, limit: number): Promise<ClaimedJob | undefined> => {
      const lease = newId()
      const endsAt = leaseFromNow()
      const rows = await ask(tx =>
        tx.rows(repository.claimJobs, { handler, limit, lease, seconds: LEASE_SECONDS })
      )
      if (rows === undefined || rows.length === 0) return undefined
      const claimed = { handler, lease, endsAt, rows: rows.toSorted((a, b) => a.id - b.id) }
      held.set(lease, claimed)
      return claimed
    },
    /** Renews the lease until the claim is settled. The signal aborts with `LeaseLost` when that fails. */
    keep: (claimed: ClaimedJob): AbortSignal => {
      const lost = new AbortController()
      kept.set(claimed.lease, { claimed, lost })
      return lost.signal
    },
    renew: async (): Promise<void> => {
      const all = [...kept.values()]
      if (all.length === 0) return
      const endsAt = leaseFromNow()
      const places = all.flatMap(({ claimed }) => claimed.rows.map(row => ({ ...row, ...claimed })))
      const mine = {
        handlers: places.map(({ handler }) => handler),
        subjects: places.map(({ subject }) => subject),
        ids: places.map(({ id }) => id),
        leases: places.map(({ lease }) => lease)
      }
      const renewed = await ask(
        tx => tx.rows(repository.renewJobLeases, { ...mine, seconds: LEASE_SECONDS }),
        forRenewals
      )
      const leases = new Set(renewed?.map(({ lease }) => lease))
      for (const { claimed, lost } of all)
        if (leases.has(claimed.lease)) claimed.endsAt = endsAt
        else if (performance.now() + GIVEN_UP_MS > claimed.endsAt) lost.abort(new LeaseLost())
    },
    /** Forgets a claim whose rows were all handled or released. */
    settle: ({ lease }: ClaimedJob) => {
      held.delete(lease)
      kept.delete(lease)
    },
    placesOf,
    giveBack,
    /** Records a failed attempt. Returns true when it was the last. */
    fail: async (
      { handler, lease }: ClaimedJob,
      { subject, id, attempts }: repository.ClaimedRow,
      reason: unknown,
      pauseSecondsMax?: number
    ): Promise<boolean> => {
      const pause = pauseSeconds(attempts, Math.random())
      // A schedule is never dead.
      const seconds =
        pauseSecondsMax === undefined ? pause : Math.min(pause ?? pauseSecondsMax, pauseSecondsMax)
      const error = String(reason).replaceAll('\0', '').slice(0, ERROR_LENGTH_MAX)
      await ask(tx =>
        tx.run(repository.recordJobFailure, { handler, subject, id, lease, error, pauseSeconds: seconds })
      )
      return seconds === null
    },
    /** Creates missing schedules. Returns true when all exist. */
    ensure: async (schedules: readonly Schedule[]) =>
      (await ask(tx => tx.run(repository.ensureSchedules, placesOfSchedules(schedules)))) !== undefined,
    findDue: async (handlers: readonly string[]): Promise<string[]> =>
      ((await ask(tx => tx.rows(repository.findDue, { handlers }))) ?? []).map(({ handler }) => handler),
    /** Postpones rows behind failed ones, and measures the backlog. */
    look: (): Promise<Backlog | undefined> =>
      ask(async tx => {
        await tx.run(repository.putOff)
        return tx.first(repository.measureBacklog)
      }),
    close: async () => {
      for (const claimed of held.values()) await giveBack(claimed)
      await Promise.all([dedicated.close(), forRenewals.close()])
    }
  }
}
