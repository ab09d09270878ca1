import pg from 'pg'
import { DomainError, defineError } from '../kernel/errors.ts'

export const databaseUnavailable = defineError(
  'unavailable',
  'DATABASE_UNAVAILABLE',
  'The database cannot be reached at the moment; try again shortly.'
)
const databaseBusy = defineError(
  'unavailable',
  'DATABASE_BUSY',
  'The database is too busy to answer in time; try again shortly.'
)

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const UNAVAILABLE = /^(08|53|57P|58)/
const BUSY = new Set(['55P03', '57014', '25P03', '25P04'])
/** A serialization failure or a deadlock: everything was undone, and the same again may well succeed. */
const RETRYABLE = new Set(['40001', '40P01'])
/**
 * The connection is of no use any more: its server was failed over and turned read-only, is going down, or has lost a
 * statement that we prepared (its parsing failed while others that use it were under way).
 */
const RETIRED = /^(25006|57P|26000)/

// What `pg` and the socket below it say when there is no usable connection; they carry no error class of their own.
const CONNECTION_LOST =
  /^(E[A-Z]+|ERR_(STREAM|SSL|SOCKET)\w*) |Connection terminated|not queryable|Query read timeout|from backend/
const POOL_WAIT = /timeout exceeded when trying to connect/

const codeOf = (error: unknown) => (error instanceof pg.DatabaseError ? (error.code ?? '') : '')

export const isRetryable = (error: unknown): boolean => RETRYABLE.has(codeOf(error))
export const isRetired = (error: unknown): boolean => RETIRED.test(codeOf(error))

/** Turns "cannot answer" into a domain error; what a statement itself got wrong stays what it is: a bug. */
export function translateDatabaseError(error: unknown): unknown {
  const code = codeOf(error)
  const extra = { cause: error, retryAfterSeconds: 1 }
  if (BUSY.has(code) || RETRYABLE.has(code)) return databaseBusy(extra)
  if (UNAVAILABLE.test(code) || RETIRED.test(code) || isConnectionLost(error))
    return databaseUnavailable(extra)
  return error
}

/** Why there is no connection: all of the pool's are in use, or none can be made. */
export function translateConnectError(error: unknown): DomainError {
  if (error instanceof DomainError) return error
  const isWait = error instanceof Error && POOL_WAIT.test(error.message)
  return (isWait ? databaseBusy : databaseUnavailable)({ cause: error, retryAfterSeconds: 1 })
}

const isConnectionLost = (error: unknown): boolean =>
  error instanceof Error &&
  !(error instanceof pg.DatabaseError) &&
  CONNECTION_LOST.test(`${(error as NodeJS.ErrnoException).code} ${error.message}`)

/** Whether `error` is PostgreSQL refusing a row because of the constraint or unique index of this name. */
export const violates = (error: unknown, constraint: string): boolean =>
  error instanceof pg.DatabaseError && error.constraint === constraint
