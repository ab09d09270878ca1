const PLACE = '#/components/schemas/'

/** A part of an OpenAPI document with references replaced by their schemas, except recursive ones. */
export function resolveReferences<T>(
  part: T,
  schemas: Readonly<Record<string, unknown>>,
  within: readonly string[] = []
): T {
  const follow = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(follow)
    if (typeof value !== 'object' || value === null) return value
    const name = '$ref' in value ? String(value.$ref) : ''
    if (!name.startsWith(PLACE))
      return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, follow(inner)]))
    return within.includes(name)
      ? {}
      : resolveReferences(schemas[name.slice(PLACE.length)], schemas, [...within, name])
  }
  return follow(part) as T
}
