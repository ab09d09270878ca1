import { createRequire } from 'node:module'
import type { FastifySchemaCompiler, FastifySerializerCompiler } from 'fastify'
import { compileSchema } from '../../kernel/compile-schema.ts'
import { fieldFaults } from '../../kernel/faults.ts'
import type { TSchema } from '../../kernel/schema.ts'
import { validationFailedError } from '../errors.ts'

const require = createRequire(import.meta.url)

// Validators and serializers are compiled at the first request of a route, because compiling 40 routes at the start
// takes 100 ms. A body is validated as sent, except that its ids become lower case. Parameters are text, converted to
// the type in the schema.
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart = 'body' }) => {
  const part = httpPart === 'querystring' ? 'query' : httpPart
  const errorsOf = compileSchema(schema)
  return (value: unknown) => {
    const candidate = httpPart === 'body' ? value : readTexts(schema, value as Record<string, unknown>)
    const errors = errorsOf(candidate)
    return errors.length === 0
      ? { value: lowerIds(schema as Shape, candidate) }
      : { error: validationFailedError({ details: { errors: fieldFaults(part, errors) } }) }
  }
}

export const compileSerializer: FastifySerializerCompiler<TSchema> = ({ schema }) => {
  let stringify: ((value: unknown) => string) | undefined
  return value => {
    stringify ??= stringifyOf(schema)
    return stringify(value)
  }
}

type Stringify = (value: unknown) => string
/**
 * Compiled serializers by response schema, because several gateways in one process, as in tests, share schemas, and
 * compiling takes milliseconds.
 */
const stringifies = new WeakMap<object, Stringify>()

function stringifyOf(schema: TSchema): Stringify {
  const known = stringifies.get(schema) ?? buildStringify(schema)
  stringifies.set(schema, known)
  return known
}

function buildStringify(schema: TSchema): Stringify {
  const build: typeof import('fast-json-stringify').default = require('fast-json-stringify')
  return build(schema as Parameters<typeof build>[0])
}

type Shape = {
  type?: string
  format?: string
  items?: Shape
  properties?: Record<string, Shape>
  anyOf?: Shape[]
}
const NUMBER = /^-?\d{1,15}(?:\.\d{1,9})?$/
const BOOLEANS = new Map([
  ['true', true],
  ['false', false]
])

const readTexts = ({ properties = {} }: Shape, texts: Record<string, unknown>) =>
  Object.fromEntries(
    groupMembers(properties, Object.entries(texts)).map(([name, text]) => [
      name,
      readText(properties[name], text)
    ])
  )

const MEMBER = /^(\w+)\[([^\]]*)\]$/
type Entry = readonly [name: string, value: unknown]

/** Collects `name[key]=value` as members of the parameter `name`, if that is an object (OpenAPI: `deepObject`). */
function groupMembers(properties: Readonly<Record<string, Shape>>, entries: readonly Entry[]) {
  const objects = new Map<string, Entry[]>()
  const others = entries.filter(([text, value]) => {
    const [, name = '', key = ''] = MEMBER.exec(text) ?? []
    if (!Object.hasOwn(properties, name) || properties[name]?.type !== 'object') return true
    objects.set(name, [...(objects.get(name) ?? []), [key, value]])
    return false
  })
  return [...others, ...[...objects].map(([name, members]): Entry => [name, Object.fromEntries(members)])]
}

/** Text that is not of its type stays as it is and fails validation: `1.5` is no integer, `` not 0. */
function readText(shape: Shape | undefined, text: unknown): unknown {
  if (shape?.type === 'array') return [text].flat().map(item => readText(shape.items, item))
  if (typeof text !== 'string') return text
  if (shape?.type === 'boolean') return BOOLEANS.get(text) ?? text
  const isNumeric = shape?.type === 'integer' || shape?.type === 'number'
  return isNumeric && NUMBER.test(text) ? Number(text) : text
}

/** Writes UUIDs in lower case, as PostgreSQL does (RFC 9562, section 4), because modules compare them as text. */
function lowerIds(shape: Shape, given: unknown): unknown {
  const value = (shape.anyOf ?? []).reduce((each, branch) => lowerIds(branch, each), given)
  if (typeof value === 'string') return shape.format === 'uuid' ? value.toLowerCase() : value
  const { items, properties = {} } = shape
  if (Array.isArray(value)) return items === undefined ? value : value.map(item => lowerIds(items, item))
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, inner]) => {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    return [name, known === undefined ? inner : lowerIds(known, inner)]
  })
  return Object.fromEntries(members)
}
