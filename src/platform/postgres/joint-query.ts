import type pg from 'pg'
import { ClientQuery, type Prepared } from './client-query.ts'
import { type Columns, columnsOf, type Field, type Row, rowOf } from './columns.ts'

/** `command`: its first word, as the server calls it, such as `COMMIT`. */
export type Answer = { rows: Row[]; rowCount: number; command: string }
/** A statement, and who waits for its answer. Without a name it is not kept by the server. */
export type Asked = {
  readonly name: string
  readonly text: string
  readonly values: Prepared[]
  resolve(answer: Answer): void
  reject(error: unknown): void
}

/** What the server has prepared on a connection. */
type Prepare = {
  /** With their columns: they have run, and are only to be executed. */
  readonly known: Map<string, Columns>
  /** The server was asked to prepare them, and may have done so. */
  readonly asked: Set<string>
}
const prepares = new WeakMap<pg.Connection, Prepare>()

/** The server has deallocated all that it had prepared on an idle connection. */
export const forgetPrepared = (connection: pg.Connection): void => {
  prepares.delete(connection)
}

/** The part of a connection of `pg` that writes messages, which its types do not declare. */
type Wire = pg.Connection & {
  close(what: { type: 'S'; name: string }): void
  describe(what: { type: 'P' }): void
  execute(): void
  sync(): void
}

const NO_COLUMNS: Columns = { names: [], parsers: [], empty: {} }
const ROWS_OF_COMMAND = / (\d+)$/

/**
 * Statements of one transaction that are asked for together: one message, which PostgreSQL answers once. When one of them
 * fails, it skips those behind it, which fail for the same reason. `pg` ends each statement with a Sync of its own, after
 * which the server writes its answer and the program wakes up to read it: 35 us of CPU on both sides (2026-11), as much as
 * a small insert; and it asks for a description of the columns each time.
 */
export class JointQuery extends ClientQuery {
  readonly query_timeout: number
  /** Set by the client, to end its timer. */
  declare callback: () => void
  readonly #statements: readonly Asked[]
  #prepare: Prepare | undefined
  /** The server is to prepare these. */
  readonly #parsed = new Set<string>()
  /** The statement that is being answered. */
  #at = 0
  #columns: Columns | undefined
  #rows: Row[] = []
  #failure: unknown

  /** Without an answer after `timeoutMs` all of them fail, and the connection is of no use any more. */
  constructor(statements: readonly Asked[], timeoutMs: number) {
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
        // It may be there, when it failed, or its answer is still to come.
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

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    this.#columns = columnsOf(fields)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    this.#columns ??= this.#prepare?.known.get(this.#statements[this.#at]?.name ?? '')
    try {
      this.#rows.push(rowOf(this.#columns ?? NO_COLUMNS, fields))
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
      // Another message may have prepared it meanwhile, which this one has ended.
      if (this.#parsed.has(statement.name)) this.#prepare?.known.delete(statement.name)
      statement.reject(error)
    }
    this.#at = this.#statements.length
  }
}
