import type pg from 'pg'
import { type Arguments, type Row, type Statement, type Values, valuesOf } from './statement.ts'

/** Anything that runs a statement: the database itself, or one transaction of it. */
export type Queryable = {
  /** Runs a named, prepared statement and answers its rows. @throws `unavailable` when the database cannot answer. */
  rows<T extends Values, G extends Values>(
    statement: Statement<T, G>,
    ...given: Arguments<T>
  ): Promise<Row<G>[]>
  /** Its first row, if there is one. */
  first<T extends Values, G extends Values>(
    statement: Statement<T, G>,
    ...given: Arguments<T>
  ): Promise<Row<G> | undefined>
  /** How many rows it changed, or found. */
  run<T extends Values, G extends Values>(statement: Statement<T, G>, ...given: Arguments<T>): Promise<number>
}

export type Send = (
  statement: Pick<Statement, 'name' | 'text' | 'isSlow' | 'mayLock' | 'isForEach'>,
  values: unknown[]
) => Promise<Pick<pg.QueryResult, 'rows' | 'rowCount'>>

/** The ways to run a statement, over whatever sends it. */
export function queryableOf(send: Send): Queryable {
  const sendGiven = (statement: Statement, given: readonly object[]) =>
    send(statement, valuesOf(statement, given[0] as Record<string, unknown> | undefined))
  const queryable = {
    rows: async (statement: Statement, ...given: object[]) => (await sendGiven(statement, given)).rows,
    first: async (statement: Statement, ...given: object[]) => (await sendGiven(statement, given)).rows[0],
    run: async (statement: Statement, ...given: object[]) => (await sendGiven(statement, given)).rowCount ?? 0
  }
  return queryable as unknown as Queryable
}
