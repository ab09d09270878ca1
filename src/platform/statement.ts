/** How a column of a result arrives in JavaScript, by its PostgreSQL type. A `?` behind the type: may be null. */
type ColumnTypes = {
  uuid: string
  text: string
  bool: boolean
  int4: number
  int8: number
  float8: number
  timestamptz: Date
  jsonb: unknown
  bytea: Buffer
  'text[]': string[]
  'uuid[]': string[]
}
type ColumnType = keyof ColumnTypes | `${keyof ColumnTypes & string}?`
export type Columns = Readonly<Record<string, ColumnType>>

type ColumnValue<T extends ColumnType> = T extends `${infer Base extends keyof ColumnTypes & string}?`
  ? ColumnTypes[Base] | null
  : T extends keyof ColumnTypes
    ? ColumnTypes[T]
    : never
export type Row<C extends Columns> = { [K in keyof C]: ColumnValue<C[K]> }

/** A named statement: prepared once a connection, and compared with the migrated schema by a test. */
export type Statement<C extends Columns = Columns> = {
  readonly name: string
  readonly columns: C
  readonly text: string
  /** Its time grows with the data. It runs on connections of its own, so that nothing quick waits behind it. */
  readonly isSlow: boolean
}
/** The type of a statement's rows: `type CartRow = RowOf<typeof findCart>`. */
export type RowOf<S> = S extends Statement<infer C> ? Row<C> : never

const NAME_LENGTH_MAX = 63 // PostgreSQL cuts longer identifiers silently, and two could become one
const statements = new Map<string, Statement>()

/** Declares a statement: its name (`module.verb_noun`), the columns it returns (`{}` for none), its SQL. */
export const statement = <const C extends Columns>(name: string, columns: C, text: string): Statement<C> =>
  declare({ name, columns, text, isSlow: false })

/** The same for one that may take long, such as a search. */
export const slowStatement = <const C extends Columns>(
  name: string,
  columns: C,
  text: string
): Statement<C> => declare({ name, columns, text, isSlow: true })

function declare<C extends Columns>(declared: Statement<C>): Statement<C> {
  const { name } = declared
  if (name.length > NAME_LENGTH_MAX) throw new RangeError(`statement name ${name} is too long`)
  if (statements.has(name)) throw new Error(`two statements are called ${name}`)
  statements.set(name, declared)
  return declared
}

/** Every statement of the modules loaded so far. */
export const declaredStatements = (): readonly Statement[] => [...statements.values()]
