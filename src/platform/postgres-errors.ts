import pg from 'pg'
import { DomainError, defineError } from '../kernel/errors.ts'

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

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const UNAVAILABLE = /^(08|57P|53|25006|58)/
const BUSY = new Set(['55P03', '57014', '25P03', '25P04'])
const RETRYABLE = new Set(['40001', '40P01'])

/** Turns "cannot answer" into a domain error; what a statement itself got wrong stays what it is: a bug. */
export function translateDatabaseError(error: unknown): unknown {
  if (error instanceof DomainError) return error
  if (error instanceof pg.DatabaseError) {
    const code = error.code ?? ''
    if (BUSY.has(code)) return databaseBusy({ cause: error, retryAfterSeconds: 1 })
    if (UNAVAILABLE.test(code)) return databaseUnavailable({ cause: error, retryAfterSeconds: 1 })
    return error
  }
  if (
    error instanceof Error &&
    CLIENT_FAULT.test(`${(error as NodeJS.ErrnoException).code} ${error.message}`)
  ) {
    const waited = POOL_WAIT.test(error.message)
    return (waited ? databaseBusy : databaseUnavailable)({ cause: error, retryAfterSeconds: 1 })
  }
  return error
}

// What `pg` and the socket below it say when there is no usable connection; they carry no error class of their own.
const CLIENT_FAULT =
  /^E[A-Z]+ |Connection terminated|connection error|not queryable|Query read timeout|timeout|terminating|Cannot use a pool|server closed/i
const POOL_WAIT = /timeout exceeded when trying to connect/

export const isRetryable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && RETRYABLE.has(error.code ?? '')

/** Whether `error` is PostgreSQL refusing a row because of the constraint or unique index of this name. */
export const violates = (error: unknown, constraint: string): boolean =>
  error instanceof pg.DatabaseError && error.constraint === constraint
