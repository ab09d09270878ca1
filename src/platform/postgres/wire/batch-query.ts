import type pg from 'pg'
import { PostgresClientQuery, type PostgresWireValue } from './client-query.ts'
import {
  type ResultColumns,
  type ResultField,
  type ResultRow,
  readResultColumns,
  readResultRow
} from './columns.ts'

/** `command`: the first word of the command tag, such as `COMMIT`. */
export type StatementResult = { rows: ResultRow[]; rowCount: number; command: string }
/** A statement and the callbacks of its result. Without a name the server does not keep it prepared. */
export type BatchedStatement = {
  readonly name: string
  readonly text: string
  readonly values: PostgresWireValue[]
  resolve(answer: StatementResult): void
  reject(error: unknown): void
}

/** The statements that are prepared on a connection. */
type PreparedStatements = {
  /** Statements that were prepared and executed on the connection before, with their result columns. */
  readonly known: Map<string, ResultColumns>
  /** Names of statements whose Parse message was sent, so the server may have prepared them. */
  readonly asked: Set<string>
}
const prepares = new WeakMap<pg.Connection, PreparedStatements>()

/** Forgets which statements a connection has prepared. Called after DEALLOCATE ALL on an idle connection. */
export const forgetPreparedStatements = (connection: pg.Connection): void => {
  prepares.delete(connection)
}

/** The part of a connection of `pg` that writes messages, which its types do not declare. */
type Wire = pg.Connection & {
  close(what: { type: 'S'; name: string }): void
  describe(what: { type: 'P' }): void
  execute(): void
  sync(): void
}

const NO_COLUMNS: ResultColumns = { names: [], parsers: [], empty: {} }
const ROWS_OF_COMMAND = / (\d+)$/

/**
 * Sends several statements of one transaction with a single Sync, so PostgreSQL responds once. When one fails, the server
 * skips those behind it, and they fail with the same error. `pg` sends a Sync after each statement. The extra write and
 * wake-up cost 35 us of CPU on both sides (2026-11), as much as a small insert. It also requests a row description each time.
 */
export class StatementBatchQuery extends PostgresClientQuery {
  readonly query_timeout: number
  /** The `pg` client sets this callback, which ends the timer of its query timeout. */
  declare callback: () => void
  readonly #statements: readonly BatchedStatement[]
  #prepare: PreparedStatements | undefined
  /** Statements that this batch prepares. */
  readonly #parsed = new Set<string>()
  /** Index of the statement whose response is being read. */
  #at = 0
  #columns: ResultColumns | undefined
  #rows: ResultRow[] = []
  #failure: unknown

  /** Without a response within `timeoutMs` all statements fail, and the connection is unusable. */
  constructor(statements: readonly BatchedStatement[], timeoutMs: number) {
    super('', [])
    this.callback = () => {}
    this.query_timeout = timeoutMs
    this.#statements = statements
  }

  override submit(connection: Wire): unknown {
    this.#prepare = prepares.get(connection) ?? { known: new Map(), asked: new Set() }
    prepares.set(connection, this.#prepare)
    const { known, asked } = this.#prepare
    const parsed = this.#parsed
    connection.stream.cork()
    for (const { name, text, values } of this.#statements) {
      const isNew = name === '' || !(known.has(name) || parsed.has(name))
      if (isNew) {
        // The server may have the prepared statement already: an earlier batch failed after its Parse, or its
        // response is pending.
        if (asked.has(name)) connection.close({ type: 'S', name })
        connection.parse({ name, text, types: [] }, true)
        if (name !== '') {
          asked.add(name)
          parsed.add(name)
        }
      }
      connection.bind({ statement: name, values }, true)
      if (isNew && name !== '') connection.describe({ type: 'P' })
      connection.execute()
    }
    connection.sync()
    connection.stream.uncork()
    return null
  }

  handleRowDescription({ fields }: { fields: readonly ResultField[] }): void {
    this.#columns = readResultColumns(fields)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    this.#columns ??= this.#prepare?.known.get(this.#statements[this.#at]?.name ?? '')
    try {
      this.#rows.push(readResultRow(this.#columns ?? NO_COLUMNS, fields))
    } catch (error) {
      this.#failure ??= error
    }
  }

  handleCommandComplete({ text }: { text: string }): void {
    const statement = this.#statements[this.#at]
    if (statement === undefined) return
    const { name } = statement
    const known = this.#prepare?.known
    if (name !== '' && !known?.has(name)) known?.set(name, this.#columns ?? NO_COLUMNS)
    const rowCount = Number(ROWS_OF_COMMAND.exec(text)?.[1] ?? 0)
    if (this.#failure !== undefined) statement.reject(this.#failure)
    else statement.resolve({ rows: this.#rows, rowCount, command: text.split(' ', 1)[0] as string })
    this.#at += 1
    this.#columns = undefined
    this.#rows = []
    this.#failure = undefined
  }

  handleReadyForQuery(): void {
    this.callback()
  }

  handleError(error: unknown): void {
    this.callback()
    for (const statement of this.#statements.slice(this.#at)) {
      // Another batch may have prepared the statement before the Close of this batch removed it.
      if (this.#parsed.has(statement.name)) this.#prepare?.known.delete(statement.name)
      statement.reject(error)
    }
    this.#at = this.#statements.length
  }
}
