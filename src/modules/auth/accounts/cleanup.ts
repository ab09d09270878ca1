import type { Database } from '../../../platform/postgres/database.ts'
import type { Timers } from '../../../platform/timers.ts'
import { deleteExpiredApiKeys } from '../api-keys/repository.ts'
import { deleteExpiredLoginChallenges } from '../challenges/repository.ts'
import * as invitations from '../invitations/repository.ts'
import { deleteExpiredOneTimeTokens } from '../one-time-tokens/repository.ts'
import { LOGIN_ATTEMPT_RESERVATION_SECONDS } from '../passwords/attempt-rules.ts'
import { KNOWN_LOGIN_NETWORK_DAYS } from '../passwords/login-throttle.ts'
import * as budgets from '../passwords/repository.ts'
import * as sessions from '../sessions/repository.ts'
import type { AuthSettings } from '../settings.ts'
import { clearOldPreviousEmails } from '../verification/repository.ts'

const CLEANUP_SECONDS = 300
/** Days for which the previous address can be notified of a change. */
const FORMER_EMAIL_DAYS = 30

/** Deletes expired rows of auth periodically. Queries ignore expired rows, so nothing depends on the time of deletion. */
export function scheduleAuthCleanup(
  timers: Timers,
  db: Database,
  { session_idle_days }: Pick<AuthSettings, 'session_idle_days'>
): void {
  const schedule = (name: string, deleteSome: () => Promise<number>) =>
    timers.untilEmpty(CLEANUP_SECONDS, name, deleteSome)
  schedule('auth.sessions', () => db.run(sessions.deleteExpiredSessions, { idleDays: session_idle_days }))
  schedule('auth.login_budgets', () =>
    db.run(budgets.deleteRefilledLoginBudgets, { turnSeconds: LOGIN_ATTEMPT_RESERVATION_SECONDS })
  )
  schedule('auth.known_networks', () =>
    db.run(budgets.deleteOldKnownLoginNetworks, { knownDays: KNOWN_LOGIN_NETWORK_DAYS })
  )
  schedule('auth.invitations', () => db.run(invitations.deleteOldRegistrationInvitations))
  schedule('auth.one_time_tokens', () => db.run(deleteExpiredOneTimeTokens))
  schedule('auth.login_challenges', () => db.run(deleteExpiredLoginChallenges))
  schedule('auth.api_keys', () => db.run(deleteExpiredApiKeys))
  schedule('auth.former_emails', () => db.run(clearOldPreviousEmails, { days: FORMER_EMAIL_DAYS }))
}
