import type pg from 'pg'
import {
  orderedParameterValues,
  type Statement,
  type StatementArguments,
  type StatementResultRow,
  type StatementValueTypes
} from './statement.ts'

/**
 * Runs statements: the database itself, or a transaction.
 * @example
 * const nameOfDay = statement({ name: 'wishlist.name_day', gives: { day: 'text' }, text: `select 'Monday' as day` })
 * const readDay = (db: Queryable) => db.first(nameOfDay)
 */
export type Queryable = {
  /** Runs a prepared statement and returns its rows. @throws `unavailable` when the database cannot answer. */
  rows<T extends StatementValueTypes, G extends StatementValueTypes>(
    statement: Statement<T, G>,
    ...given: StatementArguments<T>
  ): Promise<StatementResultRow<G>[]>
  /** Returns the first row, or undefined. */
  first<T extends StatementValueTypes, G extends StatementValueTypes>(
    statement: Statement<T, G>,
    ...given: StatementArguments<T>
  ): Promise<StatementResultRow<G> | undefined>
  /** Returns the number of rows that were changed or found. */
  run<T extends StatementValueTypes, G extends StatementValueTypes>(
    statement: Statement<T, G>,
    ...given: StatementArguments<T>
  ): Promise<number>
}

export type SendStatement = (
  statement: Pick<Statement, 'name' | 'text' | 'isSlow' | 'isPrimaryOnly' | 'mayLock' | 'isForEach'>,
  values: unknown[]
) => Promise<Pick<pg.QueryResult, 'rows' | 'rowCount'>>

/** Builds a `Queryable` on a function that sends statements. */
export function createQueryable(send: SendStatement): Queryable {
  const sendGiven = (statement: Statement, given: readonly object[]) =>
    send(statement, orderedParameterValues(statement, given[0] as Record<string, unknown> | undefined))
  const queryable = {
    rows: async (statement: Statement, ...given: object[]) => (await sendGiven(statement, given)).rows,
    first: async (statement: Statement, ...given: object[]) => (await sendGiven(statement, given)).rows[0],
    run: async (statement: Statement, ...given: object[]) => (await sendGiven(statement, given)).rowCount ?? 0
  }
  return queryable as unknown as Queryable
}
