import type pg from 'pg'
import type { SendStatement } from '../queryable.ts'
import { PostgresClientQuery, type PostgresWireValue, prepareValue } from '../wire/client-query.ts'
import {
  type ResultColumns,
  type ResultField,
  type ResultRow,
  readResultColumns,
  readResultRow
} from '../wire/columns.ts'

type Answer = Pick<Awaited<ReturnType<SendStatement>>, 'rows' | 'rowCount'>
/** The result columns of statements that are prepared on one connection, by statement name. */
export type ColumnsByStatement = Map<string, ResultColumns>

/** Messages that never differ (PostgreSQL, "Message Formats"): execute the portal for all its rows, and Sync. */
const EXECUTE_AND_SYNC = Buffer.from([...[0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0], ...[0x53, 0, 0, 0, 4]])

/**
 * A prepared statement on its way over a connection that many share. The client's own query asks for a description of
 * the columns each time, makes parsers of it, and emits an event for each row. That is 6 us of the 17 that the lines
 * of a cart cost the program (2026-11). Here they are described once a connection.
 */
export class PipelinedQuery extends PostgresClientQuery {
  readonly #values: PostgresWireValue[]
  readonly #described: ColumnsByStatement
  readonly #rows: ResultRow[] = []
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: unknown) => void
  #columns: ResultColumns | undefined
  #failure: unknown

  constructor(
    { name, text }: { name: string; text: string },
    values: unknown[],
    described: ColumnsByStatement,
    { resolve, reject }: Pick<PromiseWithResolvers<Answer>, 'resolve' | 'reject'>
  ) {
    const prepared = values.map(value => prepareValue(value))
    super(text, prepared)
    this.name = name
    this.#values = prepared
    this.#described = described
    this.#columns = described.get(name)
    this.#resolve = resolve
    this.#reject = reject
  }

  override submit(connection: pg.Connection): unknown {
    if (this.#columns === undefined) return super.submit(connection)
    connection.bind({ statement: this.name, values: this.#values }, true)
    connection.stream.write(EXECUTE_AND_SYNC)
    return null
  }

  handleRowDescription({ fields }: { fields: readonly ResultField[] }): void {
    this.#columns = readResultColumns(fields)
    this.#described.set(this.name, this.#columns)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    try {
      this.#rows.push(readResultRow(this.#columns as ResultColumns, fields))
    } catch (error) {
      this.#failure ??= error
    }
  }

  handleCommandComplete(): void {}

  handleReadyForQuery(): void {
    if (this.#failure === undefined) this.#resolve({ rows: this.#rows, rowCount: this.#rows.length })
    else this.#reject(this.#failure)
  }

  handleError(error: unknown): void {
    this.#reject(error)
  }
}
