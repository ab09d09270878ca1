type Shape = {
  readonly properties?: Readonly<Record<string, Shape>>
  readonly items?: Shape
  readonly anyOf?: readonly Shape[]
}

/**
 * Keeps the members that the schema declares, as the serializer of responses does. Without it a module would see columns
 * that no client gets, such as hashes of email addresses.
 */
export const keepDeclaredFields = <T>(schema: object, value: T): T => prune(schema as Shape, value) as T

function prune(shape: Shape, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const { properties, items, anyOf = [] } = shape
  if (Array.isArray(value)) return items === undefined ? value : value.map(each => prune(items, each))
  if (properties !== undefined) {
    const members = Object.entries(value).filter(([name]) => Object.hasOwn(properties, name))
    return Object.fromEntries(members.map(([name, member]) => [name, prune(properties[name] ?? {}, member)]))
  }
  // A union of ours is an object or null.
  const branch = anyOf.find(each => each.properties !== undefined)
  return branch === undefined ? value : prune(branch, value)
}
