/** The JavaScript type of each PostgreSQL type, in parameters and in rows. */
type ValueTypes = {
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
  'int4[]': number[]
  'int8[]': number[]
  'float8[]': (number | null)[]
  'bool[]': boolean[]
  'bytea[]': Buffer[]
}
/**
 * Type-level property with the TypeScript type of a column's values. No value has it at run time. TypeScript needs a named
 * type here to emit declarations.
 */
type Means<T> = { readonly '~value': T }
type TypeName = keyof ValueTypes & string
/** The PostgreSQL type of a value; with `?` at the end, the value may be null. */
type ValueType = TypeName | `${TypeName}?`
/** A `jsonb` column or parameter whose TypeScript type is known, as declared by `json` and `nullableJson`. */
type Json<T> = 'jsonb' & Means<T>
type NullableJson<T> = 'jsonb?' & Means<T>
/**
 * Declares a `jsonb` parameter or column with the TypeScript type of its values: `json<Option[]>()`.
 * @example
 * const text = `select '["blue"]'::jsonb as colors`
 * const readColors = statement({ name: 'wishlist.read_colors', gives: { colors: json<string[]>() }, text })
 * assert.deepEqual(await db.first(readColors), { colors: ['blue'] })
 */
export const json = <T>() => 'jsonb' as Json<T>
/**
 * Declares a `jsonb` parameter or column that may be null.
 * @example
 * const text = 'select null::jsonb as colors'
 * const readNoColors = statement({ name: 'wishlist.no_colors', gives: { colors: nullableJson<string[]>() }, text })
 * assert.deepEqual(await db.first(readNoColors), { colors: null })
 */
export const nullableJson = <T>() => 'jsonb?' as NullableJson<T>
/**
 * Declares a `text` parameter or column with few possible values, which a check constraint enforces.
 * @example
 * const text = `select 'open' as state`
 * const readState = statement({ name: 'wishlist.state', gives: { state: oneOf<'open' | 'closed'>() }, text })
 * assert.deepEqual(await db.first(readState), { state: 'open' })
 */
export const oneOf = <T extends string>() => 'text' as 'text' & Means<T>
/**
 * Declares a `text` parameter or column with few possible values, or null.
 * @example
 * const text = 'select null::text as state'
 * const readNoState = statement({ name: 'wishlist.no_state', gives: { state: nullableOneOf<'open'>() }, text })
 * assert.deepEqual(await db.first(readNoState), { state: null })
 */
export const nullableOneOf = <T extends string>() => 'text?' as 'text?' & Means<T>

/** Names and types of parameters or columns. */
export type StatementValueTypes = Readonly<Record<string, ValueType>>
type ValueOf<T extends ValueType> =
  T extends Means<infer V>
    ? T extends 'jsonb?' | 'text?'
      ? V | null
      : V
    : T extends `${infer Base extends TypeName}?`
      ? ValueTypes[Base] | null
      : T extends TypeName
        ? ValueTypes[T]
        : never
/**
 * A row with these columns. Declarations of a package name it where a function returns rows without a type of its own.
 * @example
 * const row: StatementResultRow<{ id: 'uuid'; note: 'text?' }> = { id: newId(), note: null }
 * assert.equal(row.note, null)
 */
export type StatementResultRow<G extends StatementValueTypes> = { [K in keyof G]: ValueOf<G[K]> }
type DeepReadonly<T> = T extends readonly (infer I)[] ? readonly I[] : T
type Given<T extends StatementValueTypes> = { readonly [K in keyof T]: DeepReadonly<ValueOf<T[K]>> }
/** The arguments of a statement's execution: its parameters by name, or none when it takes none. */
export type StatementArguments<T extends StatementValueTypes> = keyof T extends never ? [] : [given: Given<T>]

/**
 * A named SQL statement. Each connection prepares it once, and a test compares it with the migrated schema.
 * @example
 * const namesOf = (statements: readonly Statement[]) => statements.map(({ name }) => name)
 */
export type Statement<
  T extends StatementValueTypes = StatementValueTypes,
  G extends StatementValueTypes = StatementValueTypes
> = {
  readonly name: string
  readonly takes: T
  readonly gives: G
  /** The SQL, with `$1`, `$2` instead of names, in the order of `takes`. */
  readonly text: string
  /** The statement's duration grows with the data, so it runs on separate connections and delays no fast statement. */
  readonly isSlow: boolean
  /** A replica never executes the statement. */
  readonly isPrimaryOnly: boolean
  /**
   * The statement writes or locks. Outside a transaction it holds a connection alone, so that no other statement waits
   * behind it.
   */
  readonly mayLock: boolean
  /** The statement is executed once for the rows of all callers that share a transaction. */
  readonly isForEach: boolean
}
/**
 * The type of a statement's rows: `type CartRow = RowOf<typeof findCart>`.
 * @example
 * const findNote = statement({ name: 'wishlist.find_note', gives: { note: 'text' }, text: `select 'blue' as note` })
 * const noteOf = ({ note }: RowOf<typeof findNote>): string => note
 */
export type RowOf<S> = S extends Statement<infer _, infer G> ? StatementResultRow<G> : never

type Nothing = Readonly<Record<never, never>>
type Declaration<T extends StatementValueTypes, G extends StatementValueTypes> = {
  /** `module.verb_noun`. */
  name: string
  /** Parameters: `$name` in the text. */
  takes?: T
  /** The columns that the statement returns, in their order. */
  gives?: G
  /** Marks a statement that only reads and may be slow, such as a search. */
  slow?: boolean
  /** Marks a slow statement whose rows decide what is written, such as those to repair: only the primary executes it. */
  primaryOnly?: boolean
  /**
   * Marks a statement that runs once for all callers that share a transaction. Its parameters are the columns of `$each`, a
   * table with one row per caller and a column `at`, the row's number. It returns `at` with each row, so that each caller
   * gets its own rows.
   */
  forEach?: boolean
  text: string
}

const NAME_LENGTH_MAX = 63 // PostgreSQL cuts longer identifiers silently, and two could become one
const PARAMETER = /\$([a-z]\w*)/gi
/** Words of statements that may wait for a lock. A false match only moves the statement to another connection. */
const LOCKS =
  /\b(?:insert|update|delete|merge|truncate|lock|create|alter|drop|analyze|vacuum|call|pg_notify|for (?:no key )?update|for (?:key )?share)\b|advisory/i
const statements = new Map<string, Statement>()

/**
 * Declares a statement and replaces the names in its text by `$1`, `$2`.
 * @throws when the text and `takes` do not match, or when a slow statement writes; then the program does not load.
 * @example
 * const addNumbers = statement({
 *   name: 'wishlist.add_numbers',
 *   takes: { left: 'int8', right: 'int8' },
 *   gives: { sum: 'int8' },
 *   text: 'select $left::int8 + $right::int8 as sum'
 * })
 * assert.deepEqual(await db.first(addNumbers, { left: 2, right: 3 }), { sum: 5 })
 */
export function statement<
  const T extends StatementValueTypes = Nothing,
  const G extends StatementValueTypes = Nothing
>(declaration: Declaration<T, G>): Statement<T, G> {
  const { name, slow: isSlow = false, primaryOnly: isPrimaryOnly = false } = declaration
  const { takes = {}, gives = {} } = declaration as Declaration<StatementValueTypes, StatementValueTypes>
  if (name.length > NAME_LENGTH_MAX) throw new RangeError(`statement name ${name} is too long`)
  if (statements.has(name)) throw new Error(`two statements are called ${name}`)
  const { forEach: isForEach = false } = declaration
  const text = isForEach ? expandEachPlaceholderSql(declaration) : toPositionalParameters(declaration)
  const mayLock = LOCKS.test(text)
  if (isSlow && mayLock)
    throw new Error(`${name} writes or locks: connections for slow statements are for reading`)
  const declared: Statement = { name, takes, gives, text, isSlow, isPrimaryOnly, mayLock, isForEach }
  statements.set(name, declared)
  return declared as Statement<T, G>
}

/** Replaces the parameter names in the text by their positions: `$cart_id` by `$1`. */
export function toPositionalParameters({
  name,
  takes = {},
  text
}: Declaration<StatementValueTypes, StatementValueTypes>): string {
  const names = Object.keys(takes)
  // Every second part is a name. Replacing them one by one took the start twice as long (2026-11).
  const parts = text.split(PARAMETER)
  const used = parts.filter((_, at) => at % 2 === 1)
  const unknown = used.find(each => !names.includes(each))
  if (unknown !== undefined) throw new Error(`${name} names $${unknown}, which it does not take`)
  const unused = names.filter(each => !used.includes(each))
  if (unused.length > 0) throw new Error(`${name} takes ${unused.join(', ')} and does not use it`)
  return parts.map((part, at) => (at % 2 === 1 ? `$${names.indexOf(part) + 1}` : part)).join('')
}

/** Replaces `$each` in the text by the rows of a JSON array. */
export function expandEachPlaceholderSql({
  name,
  takes = {},
  gives = {},
  text
}: Declaration<StatementValueTypes, StatementValueTypes>): string {
  if (gives.at !== 'int8')
    throw new Error(`${name} must return at, so that each participant gets its own rows`)
  const names = Object.keys(takes)
  const unused = names.filter(each => !new RegExp(`\\b${each}\\b`).test(text))
  if (Object.values(takes).some(type => type.startsWith('bytea')))
    throw new Error(`${name} takes bytes, which JSON has not`)
  if (unused.length > 0) throw new Error(`${name} takes ${unused.join(', ')} and does not use it`)
  const table = `rows from (jsonb_to_recordset($1) as (${recordsetColumnsSql(takes)})) with ordinality as each (${names.join(', ')}, at)`
  return text.replace('$each', table)
}

/** Returns the columns of `jsonb_to_recordset($rows) as rows (…)`, for rows with these columns: `id uuid, name text`. */
export const recordsetColumnsSql = (columns: StatementValueTypes): string =>
  Object.entries(columns)
    .map(([column, type]) => `${column} ${type.replace('?', '')}`)
    .join(', ')

/**
 * JSON, and arrays without values to escape, as the texts that PostgreSQL reads; other values unchanged. The client would
 * search each value of an array for quotes, which takes seven times as long (2026-11).
 */
function parameterText(type: ValueType, value: unknown): unknown {
  switch (type) {
    case 'jsonb':
    case 'jsonb?':
      return JSON.stringify(value)
    case 'int4[]':
    case 'int8[]':
      return `{${(value as number[]).join()}}`
    case 'uuid[]':
      return uuidArrayText(value as string[]) ?? value
    default:
      return value
  }
}

const UUID_LENGTH = 36

/** Undefined when a value is no UUID by its length: it could be read as several values. */
function uuidArrayText(ids: readonly string[]): string | undefined {
  return ids.every(id => id.length === UUID_LENGTH) ? `{${ids.join()}}` : undefined
}

/** The values in the order of the statement's parameters, as the client sends them. */
export function orderedParameterValues(
  { name, takes, isForEach = false }: Pick<Statement, 'name' | 'takes'> & { readonly isForEach?: boolean },
  given: Readonly<Record<string, unknown>> = {}
): unknown[] {
  const values: unknown[] = []
  const row: Record<string, unknown> = {}
  for (const key in takes) {
    const value = given[key]
    // The client would send a missing value as null, so it is an error here.
    if (value === undefined) throw new TypeError(`${name} lacks ${key}`)
    if (isForEach) row[key] = value
    else values.push(value === null ? null : parameterText(takes[key] as ValueType, value))
  }
  return isForEach ? [JSON.stringify([row])] : values
}

/** Every statement of the modules loaded so far. */
export const listDeclaredStatements = (): readonly Statement[] => [...statements.values()]
