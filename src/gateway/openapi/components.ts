import { isDeepStrictEqual } from 'node:util'

type Schema = Record<string, unknown>

/**
 * Moves every schema with a name (its `title`) to where a document keeps them, and leaves references.
 * `schemas` are those found, by name. @throws when two that differ have the same name.
 */
export function namedSchemas<T>(part: T): { part: T; schemas: Record<string, Schema> } {
  const schemas: Record<string, Schema> = {}
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace)
    if (typeof value !== 'object' || value === null) return value
    const { title, ...schema } = Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, replace(inner)])
    )
    if (title === undefined) return schema
    if (typeof title !== 'string') return { ...schema, title }
    if (!isRepetition(schema)) {
      if (title in schemas && !isDeepStrictEqual(schemas[title], schema))
        throw new Error(`two schemas are called ${title}`)
      schemas[title] = schema
    }
    return { $ref: `#/components/schemas/${title}` }
  }
  const replaced = replace(part) as T
  return { part: replaced, schemas: Object.fromEntries(Object.entries(schemas).sort()) }
}

/** What `itself` leaves in the place of a schema that is looked at already. */
const isRepetition = (schema: Schema) => schema.additionalProperties === true && !('properties' in schema)
