import type { Config } from '../../config.ts'
import type { Jobs } from '../../platform/jobs.ts'
import type { Database } from '../../platform/postgres.ts'
import * as invitations from './invitations/repository.ts'
import { FAILURE_WINDOW_SECONDS } from './passwords/service.ts'
import * as users from './repository.ts'
import * as sessions from './sessions/repository.ts'

const SWEEP_SECONDS = 300

/** Deletes what has expired. Nothing depends on it: what has expired is not found either way. */
export function sweepEvery(jobs: Jobs, db: Database, { session_idle_days }: Config['auth']): void {
  jobs.every(SWEEP_SECONDS, 'auth.sessions', signal =>
    inBatches(signal, () => sessions.deleteExpired(db, session_idle_days))
  )
  jobs.every(SWEEP_SECONDS, 'auth.failed_logins', signal =>
    inBatches(signal, () => users.deleteOldFailures(db, FAILURE_WINDOW_SECONDS))
  )
  jobs.every(SWEEP_SECONDS, 'auth.invitations', signal => inBatches(signal, () => invitations.deleteOld(db)))
}

async function inBatches(signal: AbortSignal, deleteSome: () => Promise<number>): Promise<number> {
  let total = 0
  for (;;) {
    const count = await deleteSome()
    total += count
    if (count === 0 || signal.aborted) return total
  }
}
