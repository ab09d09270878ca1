/** JSON Schema as the document of the API has it, without references. */
export type BodySchema = {
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly BodySchema[]
  readonly maximum?: number
  readonly maxLength?: number
  readonly maxItems?: number
  readonly maxProperties?: number
  readonly items?: BodySchema
  readonly properties?: Readonly<Record<string, BodySchema>>
  readonly additionalProperties?: boolean | BodySchema
  readonly 'x-bytes-max'?: number
}
export type BodyOptions = {
  /** What texts are made of; of one character or, as a pair, two. */
  readonly character: string
  /** Chooses the id at a position, so that lists name other things each. */
  readonly idOf: (index: number) => string
}

const NAME_LENGTH = 90

/**
 * The largest value that a schema allows: every member, lists and texts at their maximum. Texts keep to a pattern only as far as
 * `character` does. @throws when a part of the schema has no maximum.
 */
export function largestOf(schema: BodySchema, options: BodyOptions): unknown {
  let ids = 0
  const build = (shape: BodySchema, at: string): unknown => {
    if (shape.enum !== undefined) return longest(shape.enum)
    if (shape.const !== undefined) return shape.const
    const type = [shape.type ?? []].flat().find(each => each !== 'null')
    if (shape.type === 'null') return null
    if (type === undefined) {
      if (shape.anyOf === undefined) throw new Error(`${at} may be anything`)
      return longest(shape.anyOf.map(each => build(each, at)))
    }
    if (type === 'string') return textOf(shape, at)
    if (type === 'integer' || type === 'number') return Math.min(shape.maximum ?? 1, 1_000_000_007)
    if (type === 'boolean') return false
    if (type === 'array') {
      const { items, maxItems } = shape
      if (items === undefined || maxItems === undefined) throw new Error(`${at} has no maxItems`)
      return listWithinBytes(maxItems, shape['x-bytes-max'], () => build(items, `${at}/*`))
    }
    return objectOf(shape, at)
  }
  const textOf = ({ format, pattern, maxLength }: BodySchema, at: string): string => {
    if (format === 'uuid') return options.idOf(ids++)
    if (format === 'date') return '2026-11-30'
    if (format === 'date-time') return '2026-11-30T23:59:59.999Z'
    if (maxLength === undefined) throw new Error(`${at} has no maxLength`)
    const text = options.character.repeat(maxLength)
    return pattern === undefined || new RegExp(pattern, 'u').test(text) ? text : 'A'.repeat(maxLength)
  }
  const objectOf = (
    { properties = {}, additionalProperties: others, maxProperties, ...rest }: BodySchema,
    at: string
  ) => {
    const members = Object.entries(properties).map(([name, shape]) => [name, build(shape, `${at}/${name}`)])
    const { 'x-bytes-max': bytesMax } = rest
    if (others === false) return Object.fromEntries(members)
    if (typeof others !== 'object' || maxProperties === undefined)
      throw new Error(`${at} has no maxProperties`)
    const names = Array.from({ length: maxProperties }, (_, index) => `${index}`.padEnd(NAME_LENGTH, 'x'))
    const all = [...members, ...names.map(name => [name, build(others, `${at}/${name}`)])]
    return withinBytes(all, bytesMax)
  }
  return build(schema, 'body')
}

/** An object of the first members, as many as fit. */
function withinBytes(members: readonly unknown[][], bytesMax: number | undefined): unknown {
  if (bytesMax === undefined) return Object.fromEntries(members)
  let bytes = '{}'.length
  // A member is as long as an array of its name and value, without the brackets and with a comma.
  const fitting = members.filter(member => {
    bytes += escapedJson(member).length - '[]'.length + ','.length
    return bytes - ','.length <= bytesMax
  })
  return Object.fromEntries(fitting)
}

/** A list of as many items as fit, `itemsMax` at most. */
function listWithinBytes(itemsMax: number, bytesMax: number | undefined, buildItem: () => unknown): unknown {
  if (bytesMax === undefined) return Array.from({ length: itemsMax }, buildItem)
  const items: unknown[] = []
  let bytes = '[]'.length
  while (items.length < itemsMax) {
    const item = buildItem()
    bytes += escapedJson(item).length + ','.length
    if (bytes - ','.length > bytesMax) break
    items.push(item)
  }
  return items
}

const longest = (values: readonly unknown[]): unknown =>
  values.reduce((one, other) => (lengthOf(other) > lengthOf(one) ? other : one))
const lengthOf = (value: unknown): number => JSON.stringify(value).length

/** JSON with every character escaped that is not ASCII: the longest form that a serializer writes. */
export const escapedJson = (value: unknown): string =>
  JSON.stringify(value).replace(
    /[^\x00-\x7f]/g,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  )
