import pg from 'pg'
import { DomainError, defineError, errorForConstraint } from '../../kernel/errors.ts'

export const databaseUnavailableError = defineError(
  'unavailable',
  'DATABASE_UNAVAILABLE',
  'The database cannot be reached at the moment; try again shortly.'
)
export const databaseBusyError = defineError(
  'unavailable',
  'DATABASE_BUSY',
  'The database is too busy to answer in time; try again shortly.'
)
export const databaseReadOnlyError = defineError(
  'unavailable',
  'DATABASE_READ_ONLY',
  'The database can only be read at the moment, nothing can be changed; try again shortly.'
)
const databaseFullError = defineError(
  'unavailable',
  'DATABASE_FULL',
  'The database has no room left, nothing can be changed until it has; try again later.'
)

const availabilityErrorCodes: ReadonlySet<string> = new Set(
  [databaseUnavailableError, databaseBusyError, databaseReadOnlyError, databaseFullError].map(
    ({ code }) => code
  )
)
/** Whether the database could not do the work, as opposed to a rule of the shop or a bug. */
export const isDatabaseAvailabilityError = (error: unknown): error is DomainError =>
  error instanceof DomainError && availabilityErrorCodes.has(error.code)

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const UNAVAILABLE = /^(08|53|57P|58)/
const LOCK_TIMEOUT = '55P03'
const BUSY = new Set([LOCK_TIMEOUT, '57014', '25P03', '25P04'])
const DISK_FULL = '53100'
const TOO_MANY_CONNECTIONS = '53300'
const READ_ONLY = '25006'
/** A serialization failure or a deadlock: the transaction was rolled back, and a retry may succeed. */
const RETRYABLE = new Set(['40001', '40P01'])
/** The connection is unusable: its server became read-only after a failover, or is shutting down. */
const RETIRED = /^(25006|57P)/
/**
 * Errors by which the server ends the connection. They say nothing about the statement, unlike 25P02, which reports an
 * earlier failure of its transaction.
 */
const CONNECTION_ENDED = /^(08|25P0[345]|57P)/
/** The prepared statement is missing: its parsing failed while executions of it were pending. */
const STATEMENT_LOST = '26000'
/** Another client prepared a statement of this name, as behind a connection pooler. */
const STATEMENT_EXISTS = '42P05'
/** A migration changed the columns of a prepared statement. The code alone has other meanings too. */
const PLAN_CHANGED = { code: '0A000', routine: 'RevalidateCachedQuery' }

// Messages of `pg` and of the socket without a usable connection; they have no error class of their own.
const CONNECTION_LOST =
  /^(E[A-Z]+|ERR_(STREAM|SSL|SOCKET)\w*) |Connection terminated|not queryable|Query read timeout|from backend/

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

export const isSerializationConflictOrDeadlock = (error: unknown): boolean => RETRYABLE.has(codeOf(error))
export const isLockTimeout = (error: unknown): boolean => codeOf(error) === LOCK_TIMEOUT
/** Prepared statements of this connection, and of others as old, no longer match the schema. */
export const isPreparedStatementStale = (error: unknown): boolean =>
  codeOf(error) === STATEMENT_LOST ||
  codeOf(error) === STATEMENT_EXISTS ||
  (codeOf(error) === PLAN_CHANGED.code && (error as pg.DatabaseError).routine === PLAN_CHANGED.routine)
/** Whether the server rejected the statement. Otherwise it may have succeeded and only its response is lost. */
export const isStatementRejectedByServer = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && !CONNECTION_ENDED.test(codeOf(error))
/** Whether the connection is unusable after this error. */
export const isConnectionUnusable = (error: unknown): boolean =>
  RETIRED.test(codeOf(error)) || isConnectionLost(error)
/** The server, the database or the role is at its connection limit. */
export const isTooManyConnections = (error: unknown): boolean => codeOf(error) === TOO_MANY_CONNECTIONS
/** Neither server nor network responded in time. */
export const isQueryTimeout = (error: unknown): boolean =>
  error instanceof Error && error.message === 'Query read timeout'

/**
 * Translates errors of availability into domain errors, and a violated constraint into the error declared for it. Errors of
 * the statement itself stay as they are: bugs.
 */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof pg.DatabaseError && error.constraint !== undefined)
    return errorForConstraint(`${error.schema}.${error.constraint}`)?.({ cause: error }) ?? error
  const code = codeOf(error)
  const extra = { cause: error, retryAfterSeconds: 1 }
  if (BUSY.has(code) || RETRYABLE.has(code)) return databaseBusyError(extra)
  if (code === READ_ONLY) return databaseReadOnlyError(extra)
  if (code === DISK_FULL) return databaseFullError(extra)
  if (
    UNAVAILABLE.test(code) ||
    code === STATEMENT_LOST ||
    code === STATEMENT_EXISTS ||
    isConnectionLost(error)
  )
    return databaseUnavailableError(extra)
  return error
}

/** Translates the error of BEGIN: a standby server is read-only. */
export function translateBeginError(error: unknown): unknown {
  const isReplica = codeOf(error) === '0A000'
  return (isReplica ? databaseReadOnlyError : databaseUnavailableError)({
    cause: error,
    retryAfterSeconds: 1
  })
}

/** Translates the error of opening a connection. */
export const translateConnectError = (error: unknown): DomainError =>
  error instanceof DomainError ? error : databaseUnavailableError({ cause: error, retryAfterSeconds: 1 })

const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof pg.DatabaseError) &&
  CONNECTION_LOST.test(`${(error as NodeJS.ErrnoException).code} ${error.message}`)
