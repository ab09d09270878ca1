/** What a JSON body of a route may cost before it is parsed. */
export type BodyBounds = {
  readonly bytesMax: number
  /** Of objects, arrays, strings, numbers and literals together; empty objects and arrays count twice. */
  readonly valuesMax: number
}
type Shape = {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Shape[]
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly items?: Shape
  readonly properties?: Readonly<Record<string, Shape>>
  readonly patternProperties?: Readonly<Record<string, Shape>>
  readonly additionalProperties?: boolean | Shape
}
type Size = { readonly bytes: number; readonly values: number }

const KIB = 1_024
/** The limits that routes have, in bytes: each has the smallest that holds all that its schema allows. */
const CLASSES = [4, 8, 16, 32, 64, 128, 256, 1_024].map(kib => kib * KIB)
const [SMALLEST = 0] = CLASSES
const LARGEST = CLASSES.at(-1) ?? 0
/** For a body whose schema sets no bounds. */
const VALUES_DEFAULT = 1_000
/** So that a body with unknown members is told which ones they are. */
const VALUES_SPARE = 64

/** The longest that one character of a text can be written: `\ud83d\ude00`. */
const CHARACTER_BYTES = 12
/** `"`, `"`, `:`, `,` and white space around a value. */
const AROUND_BYTES = 20
const NUMBER_BYTES = 32
const LITERAL_BYTES = 5
/** Names that clients choose have at most 100 characters. */
const NAME_BYTES_MAX = 100 * CHARACTER_BYTES
const LENGTH_OF_FORMAT: Readonly<Record<string, number>> = { uuid: 36, date: 10, 'date-time': 40 }

const UNBOUNDED: Size = { bytes: Number.POSITIVE_INFINITY, values: Number.POSITIVE_INFINITY }

/**
 * The bounds of a route's body, from the maxima of its schema: how many values it may have, and how long they are when every
 * character of a text is escaped (names, ids and words of an enum are not). No limit is above 1 MiB. Without a schema, or
 * where a part of it has no maximum, the smallest limit applies.
 */
export function boundsOf(schema: object | undefined): BodyBounds {
  const { bytes, values } = schema === undefined ? UNBOUNDED : sizeOf(schema as Shape)
  if (bytes === Number.POSITIVE_INFINITY) return { bytesMax: SMALLEST, valuesMax: VALUES_DEFAULT }
  return {
    bytesMax: CLASSES.find(size => size >= bytes) ?? LARGEST,
    valuesMax: values + VALUES_SPARE
  }
}

function sizeOf(shape: Shape): Size {
  if (shape.enum !== undefined) return largest(shape.enum.map(sizeOfValue))
  if (shape.const !== undefined) return sizeOfValue(shape.const)
  if (shape.type !== undefined) return largest([shape.type].flat().map(type => sizeOfType(type, shape)))
  return shape.anyOf === undefined ? UNBOUNDED : largest(shape.anyOf.map(sizeOf))
}

function sizeOfType(type: string, shape: Shape): Size {
  if (type === 'string') return sizeOfText(shape)
  if (type === 'array') return sizeOfArray(shape)
  if (type === 'object') return sizeOfObject(shape)
  return { bytes: type === 'integer' || type === 'number' ? NUMBER_BYTES : LITERAL_BYTES, values: 1 }
}

function sizeOfText({ format = '', maxLength }: Shape): Size {
  const plain = LENGTH_OF_FORMAT[format]
  if (plain !== undefined) return { bytes: plain, values: 1 }
  return maxLength === undefined ? UNBOUNDED : { bytes: maxLength * CHARACTER_BYTES, values: 1 }
}
const sizeOfValue = (value: unknown): Size => ({ bytes: JSON.stringify(value).length, values: 1 })

function sizeOfArray({ items, maxItems }: Shape): Size {
  if (items === undefined || maxItems === undefined) return UNBOUNDED
  return container([times(maxItems, around(sizeOf(items)))])
}

function sizeOfObject({ properties = {}, patternProperties = {}, ...rest }: Shape): Size {
  const patterns = Object.values(patternProperties)
  const { additionalProperties: others = patterns.length === 0, maxProperties = Number.POSITIVE_INFINITY } =
    rest
  if (others === true) return UNBOUNDED
  const members = Object.entries(properties).map(([name, shape]) => around(sizeOf(shape), name.length))
  const chosen = [...patterns, ...(others === false ? [] : [others])]
  if (chosen.length === 0) return container(members)
  return container([...members, times(maxProperties, around(largest(chosen.map(sizeOf)), NAME_BYTES_MAX))])
}

const around = ({ bytes, values }: Size, nameBytes = 0): Size => ({
  bytes: bytes + AROUND_BYTES + nameBytes,
  values
})
const times = (count: number, { bytes, values }: Size): Size => ({
  bytes: count * bytes,
  values: count * values
})
/** An empty one has as many values as the scanner counts: itself, and one more. */
const container = (parts: readonly Size[]): Size =>
  parts.reduce((sum, part) => ({ bytes: sum.bytes + part.bytes, values: sum.values + part.values }), {
    bytes: AROUND_BYTES,
    values: 2
  })
const largest = (sizes: readonly Size[]): Size => ({
  bytes: Math.max(0, ...sizes.map(({ bytes }) => bytes)),
  values: Math.max(1, ...sizes.map(({ values }) => values))
})
