import { compileSchema } from '../../src/kernel/compile-schema.ts'

/** What is wrong with an answer by its schema, and what it tells beyond that. */
export const compileAnswer = (schema: object) => compileSchema(closed(schema) as object)

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const copy = Object.fromEntries(Object.entries(schema).map(([name, inner]) => [name, closed(inner)]))
  return 'properties' in schema ? { additionalProperties: false, ...copy } : copy
}
