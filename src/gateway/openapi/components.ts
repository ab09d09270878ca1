import { isDeepStrictEqual } from 'node:util'

type Schema = Record<string, unknown>

/**
 * Replaces every schema with a `title` by a reference. Returns the schemas by title. @throws if two different schemas
 * have the same title.
 */
export function extractNamedSchemas<T>(part: T): { part: T; schemas: Record<string, Schema> } {
  const schemas: Record<string, Schema> = {}
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace)
    if (typeof value !== 'object' || value === null) return value
    const { title, ...schema } = Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, replace(inner)])
    )
    if (title === undefined) return schema
    if (typeof title !== 'string') return { ...schema, title }
    if (!isRecursion(schema)) {
      if (title in schemas && !isDeepStrictEqual(schemas[title], schema))
        throw new Error(`two schemas are called ${title}`)
      schemas[title] = schema
    }
    return { $ref: `#/components/schemas/${title}` }
  }
  const replaced = replace(part) as T
  return { part: replaced, schemas: Object.fromEntries(Object.entries(schemas).sort()) }
}

/** What `itself` leaves for a schema that contains itself. */
const isRecursion = (schema: Schema) => schema.additionalProperties === true && !('properties' in schema)
