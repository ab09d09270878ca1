import { wordsOfPattern } from './patterns.ts'
import type { SchemaError } from './validate.ts'

/**
 * What is wrong with a part of a request: `body/items/0/quantity`, and words that can be shown next to that field.
 * The list `errors` of an answer is made of these.
 */
export type Fault = { path: string; message: string }

const PATH_LENGTH_MAX = 256 // a caller's own key may be as long as a body
const VALUES_SHOWN_MAX = 20

/** One fault a field: the first. `part` is what of the request it is: `body`, `query`, `params`, `headers`. */
export function faultsOf(part: string, errors: readonly SchemaError[]): Fault[] {
  const faults = new Map<string, Fault>()
  for (const error of errors) {
    const path = `${part}${pathOf(error)}`.slice(0, PATH_LENGTH_MAX)
    if (!faults.has(path)) faults.set(path, { path, message: wordsOf(error) })
  }
  return [...faults.values()]
}

/** Where it is wrong. That of a member which is missing or unknown is its own. */
export function pathOf({ instancePath, params }: SchemaError): string {
  const member = params.missingProperty ?? params.additionalProperty
  return member === undefined ? instancePath : `${instancePath}/${escapePointer(member)}`
}

/** A name as a part of a JSON pointer (RFC 6901). */
export const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** What a schema asks for and did not find, in words for whoever filled in the field. */
export function wordsOf(error: SchemaError): string {
  const words = WORDS[error.keyword]
  return words === undefined ? 'does not have the form that is asked for' : words(error)
}

const atMost: Words = ({ params: { limit } }) => `must have at most ${count(limit, 'entry', 'entries')}`
const atLeast: Words = ({ params: { limit } }) => `must have at least ${count(limit, 'entry', 'entries')}`
const asNumber: Words = ({ parentSchema = {} }) => `must be ${nameOfNumber(parentSchema)}`

type Words = (error: SchemaError) => string
const WORDS: Readonly<Record<string, Words>> = {
  type: ({ params, parentSchema = {} }) =>
    `must be ${[params.type]
      .flat()
      .map(type => nameOfType(type, parentSchema))
      .join(' or ')}`,
  minimum: asNumber,
  maximum: asNumber,
  required: () => 'is required',
  additionalProperties: ({ params, parentSchema }) =>
    absentWords(params.additionalProperty, parentSchema) ?? nameWords(parentSchema) ?? 'is not known here',
  minLength: ({ params: { limit } }) =>
    limit === 1 ? 'must not be empty' : `must be at least ${count(limit, 'character', 'characters')} long`,
  maxLength: ({ params: { limit } }) => `must be at most ${count(limit, 'character', 'characters')} long`,
  pattern: ({ params }) => wordsOfPattern(params.pattern) ?? 'does not have the form that is asked for',
  format: ({ params }) => FORMATS[params.format] ?? `must be a ${params.format}`,
  enum: ({ params: { allowedValues: values } }) =>
    values.length > VALUES_SHOWN_MAX ? 'is none of the known values' : `must be one of: ${values.join(', ')}`,
  const: ({ params }) => `must be ${params.allowedValue}`,
  minItems: atLeast,
  maxItems: atMost,
  minProperties: atLeast,
  maxProperties: atMost,
  uniqueItems: () => 'must not have the same entry twice',
  not: ({ schema }) => `must not have ${((schema as Schema).required as string[]).join(' and ')} together`
}

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'must be an id, such as 0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e',
  'date-time': 'must be a date and time, such as 2026-03-01T08:00:00Z'
}

type Schema = Readonly<Record<string, unknown>>
const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null'
}
const nameOfType = (type: string, schema: Schema) => TYPES[type] ?? nameOfNumber(schema)

function nameOfNumber({ type, minimum, maximum }: Schema): string {
  const name = [type].flat().includes('integer') ? 'a whole number' : 'a number'
  if (minimum === undefined) return maximum === undefined ? name : `${name} of ${maximum} or less`
  return maximum === undefined ? `${name} of ${minimum} or more` : `${name} from ${minimum} to ${maximum}`
}

/** For a member that callers expect and that does not exist: what to use instead. */
function absentWords(member: string, { 'x-absent': absent = {} }: Schema = {}): string | undefined {
  const words = absent as Record<string, string>
  return Object.hasOwn(words, member) ? words[member] : undefined
}

/** For an object whose members are named by the caller: what the names must be. */
function nameWords({ patternProperties = {} }: Schema = {}): string | undefined {
  const [pattern] = Object.keys(patternProperties as object)
  return pattern === undefined ? undefined : wordsOfPattern(pattern)
}

const count = (of: number, one: string, many: string) => `${of} ${of === 1 ? one : many}`
