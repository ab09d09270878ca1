import { defineError } from './errors.ts'

/** Maximum age of a log-in that counts as recent. */
const RECENT_LOGIN_SECONDS = 300

const recentLoginRequiredError = defineError(
  'forbidden',
  'AUTH_RECENT_LOGIN_REQUIRED',
  'This needs a log-in that is at most "max_age_seconds" old. Log in again; a refreshed token is not enough.',
  { mayPass: true }
)
/** The administrator logged in without the second factor that the shop requires. */
export const secondFactorMissingError = defineError(
  'forbidden',
  'AUTH_SECOND_FACTOR_MISSING',
  'Administrators of this shop need a second factor. Enrol one at /api/auth/second-factor, or log in at your issuer with one.'
)

/** Whether the log-in is less than five minutes old. `authenticatedAt`: seconds since 1970. */
export const isRecentLogin = ({ authenticatedAt = 0 }: { readonly authenticatedAt?: number }): boolean =>
  Date.now() / 1_000 - authenticatedAt < RECENT_LOGIN_SECONDS

/** Creates the error for a log-in that is older than five minutes. */
export const loginTooOldError = () =>
  recentLoginRequiredError({ details: { max_age_seconds: RECENT_LOGIN_SECONDS } })
