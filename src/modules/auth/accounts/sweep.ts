import type { Chores } from '../../../platform/chores.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { deleteExpiredApiKeys } from '../api-keys/repository.ts'
import { deleteExpiredChallenges } from '../challenges/repository.ts'
import * as invitations from '../invitations/repository.ts'
import { deleteExpiredTokens } from '../one-time-tokens/repository.ts'
import { TURN_SECONDS } from '../passwords/admission.ts'
import { KNOWN_DAYS } from '../passwords/budgets.ts'
import * as budgets from '../passwords/repository.ts'
import * as sessions from '../sessions/repository.ts'
import type { AuthSettings } from '../settings.ts'
import { deleteFormerEmails } from '../verification/repository.ts'

const SWEEP_SECONDS = 300
/** For so long an address that was changed can be told about it. */
const FORMER_EMAIL_DAYS = 30

/** Deletes what has expired. Nothing depends on it: what has expired is not found either way. */
export function sweepEvery(
  chores: Chores,
  db: Database,
  { session_idle_days }: Pick<AuthSettings, 'session_idle_days'>
): void {
  const sweep = (name: string, deleteSome: () => Promise<number>) =>
    chores.sweep(SWEEP_SECONDS, name, deleteSome)
  sweep('auth.sessions', () => db.run(sessions.deleteExpiredSessions, { idleDays: session_idle_days }))
  sweep('auth.login_budgets', () => db.run(budgets.deleteFullBudgets, { turnSeconds: TURN_SECONDS }))
  sweep('auth.known_networks', () => db.run(budgets.deleteOldNetworks, { knownDays: KNOWN_DAYS }))
  sweep('auth.invitations', () => db.run(invitations.deleteOldInvitations))
  sweep('auth.one_time_tokens', () => db.run(deleteExpiredTokens))
  sweep('auth.login_challenges', () => db.run(deleteExpiredChallenges))
  sweep('auth.api_keys', () => db.run(deleteExpiredApiKeys))
  sweep('auth.former_emails', () => db.run(deleteFormerEmails, { days: FORMER_EMAIL_DAYS }))
}
