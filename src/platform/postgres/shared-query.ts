import type { EventEmitter } from 'node:events'
import pg from 'pg'
import type { Send } from './queryable.ts'

type Answer = Awaited<ReturnType<Send>>
type Row = Record<string, unknown>
type Parse = (text: string) => unknown
/** The columns of a statement, as the server described them when it ran for the first time on a connection. */
type Columns = { readonly names: readonly string[]; readonly parsers: readonly Parse[]; readonly empty: Row }
/** Of one connection, by the statement's name. */
export type DescribedColumns = Map<string, Columns>

/** Both messages as they always are (PostgreSQL, "Message Formats"): all rows of the portal, and the end of the statement. */
const EXECUTE_AND_SYNC = Buffer.from([...[0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0], ...[0x53, 0, 0, 0, 4]])

type Field = { name: string; dataTypeID: number }
/** What the client calls of a query, which its types do not declare. */
type ClientQuery = EventEmitter & { name: string; submit(connection: pg.Connection): unknown }
const ClientQuery = pg.Query as unknown as new (text: string, values: unknown[]) => ClientQuery
type Prepared = string | Buffer | null
const { prepareValue } = (pg as unknown as { utils: { prepareValue(value: unknown): Prepared } }).utils

/**
 * A prepared statement on its way over a connection that many share. The client's own query asks for a description of
 * the columns each time, makes parsers of it, and emits an event for each row: 6 us of the 17 that the lines of a cart
 * cost the program (2026-11). Here they are described once a connection.
 */
export class SharedQuery extends ClientQuery {
  readonly #values: Prepared[]
  readonly #described: DescribedColumns
  readonly #rows: Row[] = []
  readonly #resolve: (answer: Answer) => void
  readonly #reject: (error: unknown) => void
  #columns: Columns | undefined
  #failure: unknown

  constructor(
    { name, text }: { name: string; text: string },
    values: unknown[],
    described: DescribedColumns,
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

  handleRowDescription({ fields }: { fields: readonly Field[] }): void {
    const names = fields.map(({ name }) => name)
    this.#columns = {
      names,
      parsers: fields.map(({ dataTypeID }) => pg.types.getTypeParser(dataTypeID) as Parse),
      empty: Object.fromEntries(names.map(name => [name, null]))
    }
    this.#described.set(this.name, this.#columns)
  }

  handleDataRow({ fields }: { fields: readonly (string | null)[] }): void {
    const { names, parsers, empty } = this.#columns as Columns
    const row = { ...empty }
    try {
      for (let index = 0; index < names.length; index += 1) {
        const text = fields[index]
        if (typeof text === 'string') row[names[index] as string] = (parsers[index] as Parse)(text)
      }
    } catch (error) {
      this.#failure ??= error
    }
    this.#rows.push(row)
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
