import pg from 'pg'
import { DomainError, defineError, errorOfConstraint } from '../../kernel/errors.ts'

export const databaseUnavailable = defineError(
  'unavailable',
  'DATABASE_UNAVAILABLE',
  'The database cannot be reached at the moment; try again shortly.'
)
export const databaseBusy = defineError(
  'unavailable',
  'DATABASE_BUSY',
  'The database is too busy to answer in time; try again shortly.'
)
const databaseReadOnly = defineError(
  'unavailable',
  'DATABASE_READ_ONLY',
  'The database can only be read at the moment, nothing can be changed; try again shortly.'
)
const databaseFull = defineError(
  'unavailable',
  'DATABASE_FULL',
  'The database has no room left, nothing can be changed until it has; try again later.'
)

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const UNAVAILABLE = /^(08|53|57P|58)/
const LOCK_TIMEOUT = '55P03'
const BUSY = new Set([LOCK_TIMEOUT, '57014', '25P03', '25P04'])
const DISK_FULL = '53100'
const TOO_MANY_CONNECTIONS = '53300'
const READ_ONLY = '25006'
/** A serialization failure or a deadlock: everything was undone, and the same again may well succeed. */
const RETRYABLE = new Set(['40001', '40P01'])
/** The connection is of no use any more: its server was failed over and turned read-only, or is going down. */
const RETIRED = /^(25006|57P)/
/** The connection is about to be gone: that is no answer to what was sent. That an earlier statement failed (25P02) is one. */
const CONNECTION_ENDED = /^(08|25P0[345]|57P)/
/** The statement that we prepared is lost (its parsing failed while others that use it were under way). */
const STATEMENT_LOST = '26000'
/** The server has a statement of that name that we have not prepared, as behind a pooler that shares connections. */
const STATEMENT_EXISTS = '42P05'
/** What PostgreSQL says when a migration changed what a prepared statement gives; the code stands for much else too. */
const PLAN_CHANGED = { code: '0A000', routine: 'RevalidateCachedQuery' }

// What `pg` and the socket below it say when there is no usable connection; they carry no error class of their own.
const CONNECTION_LOST =
  /^(E[A-Z]+|ERR_(STREAM|SSL|SOCKET)\w*) |Connection terminated|not queryable|Query read timeout|from backend/

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

export const isRetryable = (error: unknown): boolean => RETRYABLE.has(codeOf(error))
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === LOCK_TIMEOUT
/** What was prepared on this connection, and on others that are as old, does not fit the schema any more. */
export const isOutdated = (error: unknown): boolean =>
  codeOf(error) === STATEMENT_LOST ||
  codeOf(error) === STATEMENT_EXISTS ||
  (codeOf(error) === PLAN_CHANGED.code && (error as pg.DatabaseError).routine === PLAN_CHANGED.routine)
/** The server says that it has not done it; else it may have, and only its answer is lost. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !CONNECTION_ENDED.test(codeOf(error))
/** After these, nothing more can be done over the connection. */
export const isUnusable = (error: unknown): boolean => RETIRED.test(codeOf(error)) || isConnectionLost(error)
/** The server, the database or the role has as many connections as it may have. */
export const isTooManyConnections = (error: unknown): boolean => codeOf(error) === TOO_MANY_CONNECTIONS
/** The server, or the network, did not answer in time. */
export const isSilence = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Query read timeout'

/**
 * Turns "cannot answer" into a domain error, and a row that a constraint refused into the error that the constraint
 * stands beside; what a statement itself got wrong stays what it is: a bug.
 */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && error.constraint !== undefined)
    return errorOfConstraint(`${error.schema}.${error.constraint}`)?.({ cause: error }) ?? error
  const code = codeOf(error)
  const extra = { cause: error, retryAfterSeconds: 1 }
  if (BUSY.has(code) || RETRYABLE.has(code)) return databaseBusy(extra)
  if (code === READ_ONLY) return databaseReadOnly(extra)
  if (code === DISK_FULL) return databaseFull(extra)
  if (
    UNAVAILABLE.test(code) ||
    code === STATEMENT_LOST ||
    code === STATEMENT_EXISTS ||
    isConnectionLost(error)
  )
    return databaseUnavailable(extra)
  return error
}

/** Why a transaction could not begin: a server that replays another one's changes cannot be written. */
export function translateBeginError(error: unknown): unknown {
  const isReplica = codeOf(error) === '0A000'
  return (isReplica ? databaseReadOnly : databaseUnavailable)({ cause: error, retryAfterSeconds: 1 })
}

/** Why there is no connection. */
export const translateConnectError = (error: unknown): DomainError =>
  error instanceof DomainError ? error : databaseUnavailable({ cause: error, retryAfterSeconds: 1 })

const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof pg.DatabaseError) &&
  CONNECTION_LOST.test(`${(error as NodeJS.ErrnoException).code} ${error.message}`)
