import buildStringify from 'fast-json-stringify'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import type { TSchema } from '../kernel/schema.ts'
import { compileSchema } from '../kernel/validate.ts'
import { validationError } from './problem.ts'

// Both compilers work at the first request of a route and not at start: compiling 40 routes takes 100 ms, and most
// processes are started to serve a few of them soon. A body is taken as it is; what comes in a URL is text, and is
// read as what its schema asks for.
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) => {
  let errorsOf: ReturnType<typeof compileSchema> | undefined
  return (value: unknown) => {
    errorsOf ??= compileSchema(schema)
    const candidate = httpPart === 'body' ? value : readTexts(schema, value as Record<string, unknown>)
    const errors = errorsOf(candidate)
    return errors.length === 0 ? { value: candidate } : { error: validationError(httpPart, errors) }
  }
}

export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let stringify: ((value: unknown) => string) | undefined
  return value => {
    stringify ??= buildStringify(schema as Parameters<typeof buildStringify>[0]) as (value: unknown) => string
    return stringify(value)
  }
}

type Shape = { type?: string; items?: Shape; properties?: Record<string, Shape> }
const NUMBER = /^-?\d{1,15}(?:\.\d{1,9})?$/
const BOOLEANS = new Map([
  ['true', true],
  ['false', false]
])

const readTexts = ({ properties = {} }: Shape, texts: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, readText(properties[name], text)]))

/** What does not read as its type is left as it is, for the schema to refuse: `1.5` is no integer, `` not 0. */
function readText(shape: Shape | undefined, text: unknown): unknown {
  if (shape?.type === 'array') return [text].flat().map(item => readText(shape.items, item))
  if (typeof text !== 'string') return text
  if (shape?.type === 'boolean') return BOOLEANS.get(text) ?? text
  const isNumeric = shape?.type === 'integer' || shape?.type === 'number'
  return isNumeric && NUMBER.test(text) ? Number(text) : text
}
