/** What a JSON body of a route may cost before it is parsed. */
export type BodyBounds = {
  readonly bytesMax: number
  /** Of objects, arrays, strings, numbers and literals together; empty objects and arrays count twice. */
  readonly valuesMax: number
  /** Parts of the schema without a maximum, such as `body/name needs maxLength`. A route with one is refused at the start. */
  readonly missing: readonly string[]
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
  /** Bytes that a value of any shape may have. */
  readonly 'x-bytes-max'?: number
}
/** Notes what a part of the schema lacks. */
type Lacks = (what: string) => void
type Size = { readonly bytes: number; readonly values: number }

const KIB = 1_024
/** The limits that routes have, in bytes: each has the smallest that holds all that its schema allows. */
const CLASSES = [4, 8, 16, 32, 64, 128, 256, 1_024].map(kib => kib * KIB)
const [SMALLEST = 0] = CLASSES
const LARGEST = CLASSES.at(-1) ?? 0
/** For routes without a schema of their body. */
const VALUES_DEFAULT = 1_000
/** `0,`: no JSON has more values in as many bytes. */
const VALUE_BYTES_MIN = 2
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

const NOTHING: Size = { bytes: 0, values: 0 }

/**
 * The bounds of a route's body, from the maxima of its schema: how many values it may have, and how long they are when every
 * character of a text is escaped (names, ids and words of an enum are not). No limit is above 1 MiB. Without a schema the
 * smallest limit applies.
 */
export function boundsOf(schema: object | undefined): BodyBounds {
  if (schema === undefined) return { bytesMax: SMALLEST, valuesMax: VALUES_DEFAULT, missing: [] }
  const known = boundsBySchema.get(schema) ?? computeBounds(schema)
  boundsBySchema.set(schema, known)
  return known
}

/** The gateways of one process, as in tests, mount the same schemas: 2 ms of CPU each (2026-11). */
const boundsBySchema = new WeakMap<object, BodyBounds>()

function computeBounds(schema: object): BodyBounds {
  const missing: string[] = []
  const { bytes, values } = sizeOf(schema as Shape, at('body', missing))
  return {
    bytesMax: CLASSES.find(size => size >= bytes) ?? LARGEST,
    valuesMax: values + VALUES_SPARE,
    missing
  }
}

/** What notes the lacks of the part at `path`, and of the parts in it. */
type Place = { readonly lacks: Lacks; readonly in: (name: string) => Place }
const at = (path: string, missing: string[]): Place => ({
  lacks: what => missing.push(`${path} needs ${what}`),
  in: name => at(`${path}/${name}`, missing)
})

function sizeOf(shape: Shape, place: Place): Size {
  const bytesMax = shape['x-bytes-max']
  if (bytesMax !== undefined) return { bytes: bytesMax, values: Math.ceil(bytesMax / VALUE_BYTES_MIN) }
  if (shape.enum !== undefined) return largest(shape.enum.map(sizeOfValue))
  if (shape.const !== undefined) return sizeOfValue(shape.const)
  if (shape.type !== undefined)
    return largest([shape.type].flat().map(type => sizeOfType(type, shape, place)))
  if (shape.anyOf !== undefined) return largest(shape.anyOf.map(each => sizeOf(each, place)))
  return lacking(place, 'a type')
}

function lacking({ lacks }: Place, what: string): Size {
  lacks(what)
  return NOTHING
}

function sizeOfType(type: string, shape: Shape, place: Place): Size {
  if (type === 'string') return sizeOfText(shape, place)
  if (type === 'array') return sizeOfArray(shape, place)
  if (type === 'object') return sizeOfObject(shape, place)
  return { bytes: type === 'integer' || type === 'number' ? NUMBER_BYTES : LITERAL_BYTES, values: 1 }
}

function sizeOfText({ format = '', maxLength }: Shape, place: Place): Size {
  const plain = LENGTH_OF_FORMAT[format]
  if (plain !== undefined) return { bytes: plain, values: 1 }
  if (maxLength === undefined) return lacking(place, 'maxLength')
  return { bytes: maxLength * CHARACTER_BYTES, values: 1 }
}
const sizeOfValue = (value: unknown): Size => ({ bytes: JSON.stringify(value).length, values: 1 })

function sizeOfArray({ items, maxItems }: Shape, place: Place): Size {
  const one = items === undefined ? lacking(place, 'items') : sizeOf(items, place.in('0'))
  return maxItems === undefined ? lacking(place, 'maxItems') : container([times(maxItems, around(one))])
}

function sizeOfObject({ properties = {}, patternProperties = {}, ...rest }: Shape, place: Place): Size {
  const patterns = Object.values(patternProperties)
  const { additionalProperties: others = patterns.length === 0, maxProperties } = rest
  const members = Object.entries(properties).map(([name, shape]) =>
    around(sizeOf(shape, place.in(name)), name.length)
  )
  if (others === true) return lacking(place, 'additionalProperties: false, or x-bytes-max')
  const chosen = [...patterns, ...(others === false ? [] : [others])]
  if (chosen.length === 0) return container(members)
  const one = largest(chosen.map(each => sizeOf(each, place.in('*'))))
  if (maxProperties === undefined) return lacking(place, 'maxProperties')
  return container([...members, times(maxProperties, around(one, NAME_BYTES_MAX))])
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
