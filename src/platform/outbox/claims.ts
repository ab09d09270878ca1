import { newId } from '../../kernel/ids.ts'
import type { Log } from '../log.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import type { Backlog } from './figures.ts'
import { pauseSeconds } from './pauses.ts'
import * as repository from './rows.ts'

/** Rows of one handler that this process holds until the lease ends, or as long as it renews it. */
export type Claimed = {
  readonly handler: string
  readonly lease: string
  /** When others may claim them, on the monotonic clock. */
  endsAt: number
  readonly rows: readonly repository.ClaimedRow[]
}
export type Schedule = { readonly handler: string; readonly subject: string; readonly eventId: string }
/** The rows are another one's now, or soon. */
export class LeaseLost extends Error {}
export type Claims = ReturnType<typeof createClaims>

const ANSWER_MS_MAX = 2_000
const ERROR_LENGTH_MAX = 2_000
/** So soon others take over what a process died with, or claimed without being told so. */
const LEASE_SECONDS = 15
/** One that was not renewed so long before its end is given up: whoever claims it then does it alone. */
const GIVEN_UP_MS = 6_000
/** The clocks may tell the length of a lease a little differently. */
const LEASE_MARGIN_MS = 500
/**
 * For the connections of `createClaims`. A plan that was made while the table was small, and has not been analyzed since,
 * must not read and sort a whole backlog: of 50,000 rows a claim of 200 took 120 ms then instead of 2 (2026-11-21).
 */
export const BY_INDEX = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off'
}

const leaseFromNow = () => performance.now() + LEASE_SECONDS * 1_000 - LEASE_MARGIN_MS

/** What is done to rows beside their effect: over a connection of its own, so that nobody waits for it. */
export function createClaims(db: Pick<Database, 'apart'>, log: Log) {
  const apart = db.apart({ settings: BY_INDEX })
  /** Many claims at once wait for each other, and a lease does not. */
  const forRenewals = db.apart({ settings: BY_INDEX })
  /** Claims that are not settled: given back at the end. */
  const held = new Map<string, Claimed>()
  /** Those of them that take as long as they take. */
  const kept = new Map<string, { readonly claimed: Claimed; readonly lost: AbortController }>()

  /** `undefined` when the database does not answer; then leases end by themselves, and all is looked at again. */
  async function ask<T>(work: (tx: Transaction) => Promise<T>, over = apart): Promise<T | undefined> {
    const attempt = await over.attempt(work, { deadlineAt: performance.now() + ANSWER_MS_MAX })
    if (attempt.kind === 'undone') log.debug({ err: attempt.error }, 'events cannot be looked at')
    return attempt.kind === 'done' ? attempt.value : undefined
  }

  const placesOf = ({ handler, lease }: Claimed, rows: readonly repository.ClaimedRow[]) => ({
    handler,
    lease,
    subjects: rows.map(({ subject }) => subject),
    ids: rows.map(({ id }) => id)
  })

  async function giveBack(claimed: Claimed, rows = claimed.rows, pauseSeconds = 0): Promise<void> {
    await ask(tx => tx.run(repository.giveBack, { ...placesOf(claimed, rows), pauseSeconds }))
  }

  return {
    /** Nothing when there is nothing due. */
    claim: async (handler: string, limit: number): Promise<Claimed | undefined> => {
      const lease = newId()
      const endsAt = leaseFromNow()
      const rows = await ask(tx =>
        tx.rows(repository.claim, { handler, limit, lease, seconds: LEASE_SECONDS })
      )
      if (rows === undefined || rows.length === 0) return undefined
      const claimed = { handler, lease, endsAt, rows: rows.toSorted((a, b) => a.id - b.id) }
      held.set(lease, claimed)
      return claimed
    },
    /** From now on it is renewed until it is settled. Aborted with `LeaseLost` when that cannot be done. */
    keep: (claimed: Claimed): AbortSignal => {
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
        tx => tx.rows(repository.renew, { ...mine, seconds: LEASE_SECONDS }),
        forRenewals
      )
      const leases = new Set(renewed?.map(({ lease }) => lease))
      for (const { claimed, lost } of all)
        if (leases.has(claimed.lease)) claimed.endsAt = endsAt
        else if (performance.now() + GIVEN_UP_MS > claimed.endsAt) lost.abort(new LeaseLost())
    },
    /** All of it was handled, or given back. */
    settle: ({ lease }: Claimed) => {
      held.delete(lease)
      kept.delete(lease)
    },
    placesOf,
    giveBack,
    /** Notes that a try failed. True when there will be no other one. */
    fail: async (
      { handler, lease }: Claimed,
      { subject, id, attempts }: repository.ClaimedRow,
      reason: unknown,
      pauseSecondsMax?: number
    ): Promise<boolean> => {
      const pause = pauseSeconds(attempts, Math.random())
      // A schedule is never dead.
      const seconds =
        pauseSecondsMax === undefined ? pause : Math.min(pause ?? pauseSecondsMax, pauseSecondsMax)
      const error = String(reason).replaceAll('\0', '').slice(0, ERROR_LENGTH_MAX)
      await ask(tx => tx.run(repository.fail, { handler, subject, id, lease, error, pauseSeconds: seconds }))
      return seconds === null
    },
    /** True when the schedule is there. */
    ensure: async (schedule: Schedule) =>
      (await ask(tx => tx.run(repository.ensureSchedule, schedule))) !== undefined,
    findDue: async (handlers: readonly string[]): Promise<string[]> =>
      ((await ask(tx => tx.rows(repository.findDue, { handlers }))) ?? []).map(({ handler }) => handler),
    /** Puts off what cannot be handled yet, and measures. */
    look: (): Promise<Backlog | undefined> =>
      ask(async tx => {
        await tx.run(repository.putOff)
        return tx.first(repository.measure)
      }),
    close: async () => {
      for (const claimed of held.values()) await giveBack(claimed)
      await Promise.all([apart.close(), forRenewals.close()])
    }
  }
}
