/** How a value arrives in JavaScript, and is given to a statement, by its PostgreSQL type. */
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
/** Where a type says which values it stands for; nothing has it at run time. A name, so that declarations can be emitted. */
type Means<T> = { readonly '~value': T }
type TypeName = keyof ValueTypes & string
/** A `?` behind the type: may be null. */
type ValueType = TypeName | `${TypeName}?`
/** A `jsonb` whose shape is known; written by `json` and `nullableJson`. */
type Json<T> = 'jsonb' & Means<T>
type NullableJson<T> = 'jsonb?' & Means<T>
/** A `jsonb` of a known shape, as `json<Option[]>()` in what a statement takes or gives. */
export const json = <T>() => 'jsonb' as Json<T>
/** The same, or null. */
export const nullableJson = <T>() => 'jsonb?' as NullableJson<T>
/** A `text` that is one of a few words, as a check constraint sees to. */
export const oneOf = <T extends string>() => 'text' as 'text' & Means<T>
/** The same, or null. */
export const nullableOneOf = <T extends string>() => 'text?' as 'text?' & Means<T>

/** The names of what a statement takes or gives, and their types. */
export type Values = Readonly<Record<string, ValueType>>
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
export type Row<G extends Values> = { [K in keyof G]: ValueOf<G[K]> }
type DeepReadonly<T> = T extends readonly (infer I)[] ? readonly I[] : T
type Given<T extends Values> = { readonly [K in keyof T]: DeepReadonly<ValueOf<T[K]>> }
/** What follows the statement in a call: its values by name, or nothing when it takes none. */
export type Arguments<T extends Values> = keyof T extends never ? [] : [given: Given<T>]

/** A named statement: prepared once a connection, and compared with the migrated schema by a test. */
export type Statement<T extends Values = Values, G extends Values = Values> = {
  readonly name: string
  readonly takes: T
  readonly gives: G
  /** With `$1`, `$2` in the place of names, in the order of `takes`. */
  readonly text: string
  /** Its time grows with the data. It runs on connections of its own, so that nothing quick waits behind it. */
  readonly isSlow: boolean
  /** Its text writes or locks. Outside of a transaction it has a connection for itself, so that nobody waits behind it. */
  readonly mayLock: boolean
  /** It is one statement for the rows of all who ask for it at once in a transaction. */
  readonly isForEach: boolean
}
/** The type of a statement's rows: `type CartRow = RowOf<typeof findCart>`. */
export type RowOf<S> = S extends Statement<infer _, infer G> ? Row<G> : never

type Nothing = Readonly<Record<never, never>>
type Declaration<T extends Values, G extends Values> = {
  /** `module.verb_noun`. */
  name: string
  /** What stands as `$name` in the text. */
  takes?: T
  /** The columns that it returns, in their order. */
  gives?: G
  /** It only reads, and may take long, such as a search. */
  slow?: boolean
  /**
   * What it takes are the columns of `$each`, a table with the row of each who asks for it at once, and a column more: `at`, the number
   * of the row. It gives `at` with each of its rows, so that everybody gets theirs.
   */
  forEach?: boolean
  text: string
}

const NAME_LENGTH_MAX = 63 // PostgreSQL cuts longer identifiers silently, and two could become one
const PARAMETER = /\$([a-z]\w*)/gi
/** Words of statements that may wait for a lock. A text that has one by chance only runs on another connection. */
const LOCKS =
  /\b(?:insert|update|delete|merge|truncate|lock|create|alter|drop|analyze|vacuum|call|pg_notify|for (?:no key )?update|for (?:key )?share)\b|advisory/i
const statements = new Map<string, Statement>()

/**
 * Declares a statement. The names in its text become `$1`, `$2` here, once.
 * @throws when the text names what is not in `takes`, or leaves something of it out, and when a slow one writes: then the
 * program does not load.
 */
export function statement<const T extends Values = Nothing, const G extends Values = Nothing>(
  declaration: Declaration<T, G>
): Statement<T, G> {
  const { name, slow: isSlow = false } = declaration
  const { takes = {}, gives = {} } = declaration as Declaration<Values, Values>
  if (name.length > NAME_LENGTH_MAX) throw new RangeError(`statement name ${name} is too long`)
  if (statements.has(name)) throw new Error(`two statements are called ${name}`)
  const { forEach: isForEach = false } = declaration
  const text = isForEach ? withRows(declaration) : numberParameters(declaration)
  const mayLock = LOCKS.test(text)
  if (isSlow && mayLock)
    throw new Error(`${name} writes or locks: connections for slow statements are for reading`)
  const declared: Statement = { name, takes, gives, text, isSlow, mayLock, isForEach }
  statements.set(name, declared)
  return declared as Statement<T, G>
}

/** The text with a number for each name. */
export function numberParameters({ name, takes = {}, text }: Declaration<Values, Values>): string {
  const names = Object.keys(takes)
  // Every second part is a name. To replace them one by one takes a start twice as long (2026-11).
  const parts = text.split(PARAMETER)
  const used = parts.filter((_, at) => at % 2 === 1)
  const unknown = used.find(each => !names.includes(each))
  if (unknown !== undefined) throw new Error(`${name} names $${unknown}, which it does not take`)
  const unused = names.filter(each => !used.includes(each))
  if (unused.length > 0) throw new Error(`${name} takes ${unused.join(', ')} and does not use it`)
  return parts.map((part, at) => (at % 2 === 1 ? `$${names.indexOf(part) + 1}` : part)).join('')
}

/** The text with the rows of a JSON list in the place of `$each`. */
export function withRows({ name, takes = {}, gives = {}, text }: Declaration<Values, Values>): string {
  if (gives.at !== 'int8')
    throw new Error(`${name} does not give at, and nobody would know whose its rows are`)
  const names = Object.keys(takes)
  const unused = names.filter(each => !new RegExp(`\\b${each}\\b`).test(text))
  if (Object.values(takes).some(type => type.startsWith('bytea')))
    throw new Error(`${name} takes bytes, which JSON has not`)
  if (unused.length > 0) throw new Error(`${name} takes ${unused.join(', ')} and does not use it`)
  const columns = Object.entries(takes).map(([column, type]) => `${column} ${type.replace('?', '')}`)
  const table = `rows from (jsonb_to_recordset($1) as (${columns.join(', ')})) with ordinality as each (${names.join(', ')}, at)`
  return text.replace('$each', table)
}

/** The values in the order of the statement's parameters, as the client sends them. */
export function valuesOf(
  { name, takes, isForEach = false }: Pick<Statement, 'name' | 'takes'> & { readonly isForEach?: boolean },
  given: Readonly<Record<string, unknown>> = {}
): unknown[] {
  const values: unknown[] = []
  for (const key in takes) {
    const value = given[key]
    // A value that was forgotten would be sent as null.
    if (value === undefined) throw new TypeError(`${name} lacks ${key}`)
    const isJson = !isForEach && (takes[key] === 'jsonb' || takes[key] === 'jsonb?')
    values.push(isJson && value !== null ? JSON.stringify(value) : value)
  }
  return isForEach ? [JSON.stringify([given])] : values
}

/** Every statement of the modules loaded so far. */
export const declaredStatements = (): readonly Statement[] => [...statements.values()]
