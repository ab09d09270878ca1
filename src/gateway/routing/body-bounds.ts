/** Limits of a route's JSON body, checked before it is parsed. */
export type JsonBodySizeBounds = {
  readonly bytesMax: number
  /** Maximum count of objects, arrays, strings, numbers and literals; empty objects and arrays count twice. */
  readonly valuesMax: number
  /** Parts of the schema without a maximum, such as `body/name needs maxLength`. They prevent the start. */
  readonly unbounded: readonly string[]
}
type BodySchema = {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly BodySchema[]
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly items?: BodySchema
  readonly properties?: Readonly<Record<string, BodySchema>>
  readonly patternProperties?: Readonly<Record<string, BodySchema>>
  readonly additionalProperties?: boolean | BodySchema
  /** Maximum bytes of a value: of any shape, or of an object or list whose parts have maxima, too. */
  readonly 'x-bytes-max'?: number
}
/** Records a part of the schema that has no maximum, by its path and the missing keyword. */
type NoteMissing = (what: string) => void
type Size = { readonly bytes: number; readonly values: number }

const KIB = 1_024
/** Possible body limits of routes, in bytes. A route gets the smallest that fits every body that its schema allows. */
const SIZE_CLASSES = [4, 8, 16, 32, 64, 128, 256, 1_024].map(kib => kib * KIB)
const [SMALLEST = 0] = SIZE_CLASSES
const LARGEST = SIZE_CLASSES.at(-1) ?? 0
/** Maximum count of values for routes without a body schema. */
const VALUES_DEFAULT = 1_000
/** `0,` is the shortest value in JSON. */
const VALUE_BYTES_MIN = 2
/** Spare values, so that a body with some unknown members reaches validation, which names them. */
const VALUES_SPARE = 64

/** The longest escape of a character: `\ud83d\ude00`. */
const CHARACTER_BYTES = 12
/** `"`, `"`, `:`, `,` and white space around a value. */
const AROUND_BYTES = 20
const NUMBER_BYTES = 32
const LITERAL_BYTES = 5
/** Member names that clients choose have at most 100 characters. */
const NAME_BYTES_MAX = 100 * CHARACTER_BYTES
const LENGTH_OF_FORMAT: Readonly<Record<string, number>> = { uuid: 36, date: 10, 'date-time': 40 }

const NOTHING: Size = { bytes: 0, values: 0 }

/**
 * Computes the limits of a route's body from the maxima in its schema. It assumes that every character of a text is
 * escaped, except in names, ids and enums. The limit never exceeds 1 MiB; without a schema it is the smallest.
 */
export function computeBodyBoundsOfSchema(schema: object | undefined): JsonBodySizeBounds {
  if (schema === undefined) return { bytesMax: SMALLEST, valuesMax: VALUES_DEFAULT, unbounded: [] }
  const known = boundsBySchema.get(schema) ?? computeBounds(schema)
  boundsBySchema.set(schema, known)
  return known
}

/** Several gateways in one process, as in tests, share schemas. Computing the bounds takes 2 ms each (2026-11). */
const boundsBySchema = new WeakMap<object, JsonBodySizeBounds>()

function computeBounds(schema: object): JsonBodySizeBounds {
  const unbounded: string[] = []
  const { bytes, values } = sizeOf(schema as BodySchema, at('body', unbounded))
  return {
    bytesMax: SIZE_CLASSES.find(size => size >= bytes) ?? LARGEST,
    valuesMax: values + VALUES_SPARE,
    unbounded
  }
}

/** Records the maximum that is missing in the schema at `path`; `in` descends to a member. */
type SchemaPart = { readonly lacks: NoteMissing; readonly in: (name: string) => SchemaPart }
const at = (path: string, unbounded: string[]): SchemaPart => ({
  lacks: what => unbounded.push(`${path} needs ${what}`),
  in: name => at(`${path}/${name}`, unbounded)
})

function sizeOf(shape: BodySchema, place: SchemaPart): Size {
  const { 'x-bytes-max': bytesMax, ...rest } = shape
  if (bytesMax !== undefined && shape.maxProperties === undefined && shape.maxItems === undefined)
    return { bytes: bytesMax, values: Math.ceil(bytesMax / VALUE_BYTES_MIN) }
  if (bytesMax !== undefined) return { bytes: bytesMax, values: sizeOf(rest, place).values }
  if (shape.enum !== undefined) return largest(shape.enum.map(sizeOfValue))
  if (shape.const !== undefined) return sizeOfValue(shape.const)
  if (shape.type !== undefined)
    return largest([shape.type].flat().map(type => sizeOfType(type, shape, place)))
  if (shape.anyOf !== undefined) return largest(shape.anyOf.map(each => sizeOf(each, place)))
  return noteMissing(place, 'a type')
}

function noteMissing({ lacks }: SchemaPart, what: string): Size {
  lacks(what)
  return NOTHING
}

function sizeOfType(type: string, shape: BodySchema, place: SchemaPart): Size {
  if (type === 'string') return sizeOfText(shape, place)
  if (type === 'array') return sizeOfArray(shape, place)
  if (type === 'object') return sizeOfObject(shape, place)
  return { bytes: type === 'integer' || type === 'number' ? NUMBER_BYTES : LITERAL_BYTES, values: 1 }
}

function sizeOfText({ format = '', maxLength }: BodySchema, place: SchemaPart): Size {
  const plain = LENGTH_OF_FORMAT[format]
  if (plain !== undefined) return { bytes: plain, values: 1 }
  if (maxLength === undefined) return noteMissing(place, 'maxLength')
  return { bytes: maxLength * CHARACTER_BYTES, values: 1 }
}
const sizeOfValue = (value: unknown): Size => ({ bytes: JSON.stringify(value).length, values: 1 })

function sizeOfArray({ items, maxItems }: BodySchema, place: SchemaPart): Size {
  const one = items === undefined ? noteMissing(place, 'items') : sizeOf(items, place.in('0'))
  return maxItems === undefined ? noteMissing(place, 'maxItems') : container([times(maxItems, around(one))])
}

function sizeOfObject(
  { properties = {}, patternProperties = {}, ...rest }: BodySchema,
  place: SchemaPart
): Size {
  const patterns = Object.values(patternProperties)
  const { additionalProperties: others = patterns.length === 0, maxProperties } = rest
  const members = Object.entries(properties).map(([name, shape]) =>
    around(sizeOf(shape, place.in(name)), name.length)
  )
  if (others === true) return noteMissing(place, 'additionalProperties: false, or x-bytes-max')
  const chosen = [...patterns, ...(others === false ? [] : [others])]
  if (chosen.length === 0) return container(members)
  const one = largest(chosen.map(each => sizeOf(each, place.in('*'))))
  if (maxProperties === undefined) return noteMissing(place, 'maxProperties')
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
/** The scanner counts an empty container as two values. */
const container = (parts: readonly Size[]): Size =>
  parts.reduce((sum, part) => ({ bytes: sum.bytes + part.bytes, values: sum.values + part.values }), {
    bytes: AROUND_BYTES,
    values: 2
  })
const largest = (sizes: readonly Size[]): Size => ({
  bytes: Math.max(0, ...sizes.map(({ bytes }) => bytes)),
  values: Math.max(1, ...sizes.map(({ values }) => values))
})
