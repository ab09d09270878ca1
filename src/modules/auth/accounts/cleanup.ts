import type { Database } from '../../../platform/postgres/database.ts'
import type { Timers } from '../../../platform/timers.ts'
import { deleteExpiredApiKeys } from '../api-keys/repository.ts'
import { deleteExpiredChallenges } from '../challenges/repository.ts'
import * as invitations from '../invitations/repository.ts'
import { deleteExpiredTokens } from '../one-time-tokens/repository.ts'
import { TURN_SECONDS } from '../passwords/attempt-rules.ts'
import { KNOWN_DAYS } from '../passwords/budgets.ts'
import * as budgets from '../passwords/repository.ts'
import * as sessions from '../sessions/repository.ts'
import type { AuthSettings } from '../settings.ts'
import { deleteFormerEmails } from '../verification/repository.ts'

const CLEANUP_SECONDS = 300
/** Days for which the previous address can be notified of a change. */
const FORMER_EMAIL_DAYS = 30

/** Deletes expired rows periodically. Queries ignore expired rows, so nothing depends on the time of deletion. */
export function scheduleCleanup(
  timers: Timers,
  db: Database,
  { session_idle_days }: Pick<AuthSettings, 'session_idle_days'>
): void {
  const schedule = (name: string, deleteSome: () => Promise<number>) =>
    timers.untilEmpty(CLEANUP_SECONDS, name, deleteSome)
  schedule('auth.sessions', () => db.run(sessions.deleteExpiredSessions, { idleDays: session_idle_days }))
  schedule('auth.login_budgets', () => db.run(budgets.deleteFullBudgets, { turnSeconds: TURN_SECONDS }))
  schedule('auth.known_networks', () => db.run(budgets.deleteOldNetworks, { knownDays: KNOWN_DAYS }))
  schedule('auth.invitations', () => db.run(invitations.deleteOldInvitations))
  schedule('auth.one_time_tokens', () => db.run(deleteExpiredTokens))
  schedule('auth.login_challenges', () => db.run(deleteExpiredChallenges))
  schedule('auth.api_keys', () => db.run(deleteExpiredApiKeys))
  schedule('auth.former_emails', () => db.run(deleteFormerEmails, { days: FORMER_EMAIL_DAYS }))
}
