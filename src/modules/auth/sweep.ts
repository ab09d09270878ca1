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
  jobs.sweep(SWEEP_SECONDS, 'auth.sessions', () => sessions.deleteExpired(db, session_idle_days))
  jobs.sweep(SWEEP_SECONDS, 'auth.failed_logins', () => users.deleteOldFailures(db, FAILURE_WINDOW_SECONDS))
  jobs.sweep(SWEEP_SECONDS, 'auth.invitations', () => invitations.deleteOld(db))
}
