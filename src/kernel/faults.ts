import type { SchemaViolation } from './compile-schema.ts'
import { patternMessage } from './patterns.ts'

/**
 * An entry of `errors` in a response: the path of an invalid field, such as `body/items/0/quantity`, and a message that can
 * be shown next to it.
 */
export type FieldFault = { path: string; message: string }

const PATH_LENGTH_MAX = 256 // a key that the caller chose may be as long as the body
const VALUES_SHOWN_MAX = 20

/** Returns the first fault of each field. `part`: `body`, `query`, `params` or `headers`. */
export function fieldFaults(part: string, errors: readonly SchemaViolation[]): FieldFault[] {
  const faults = new Map<string, FieldFault>()
  for (const error of errors) {
    const path = `${part}${schemaErrorPath(error)}`.slice(0, PATH_LENGTH_MAX)
    if (!faults.has(path)) faults.set(path, { path, message: schemaErrorMessage(error) })
  }
  return [...faults.values()]
}

/** Returns the path of a schema error. For a missing or unknown member, this is the path of the member. */
export function schemaErrorPath({ instancePath, params }: SchemaViolation): string {
  const member = params.missingProperty ?? params.additionalProperty
  return member === undefined ? instancePath : `${instancePath}/${escapeJsonPointer(member)}`
}

/** Escapes a name for a JSON pointer (RFC 6901). */
export const escapeJsonPointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** Returns the message of a schema error for the user who filled in the field. */
export function schemaErrorMessage(error: SchemaViolation): string {
  const words = WORDS[error.keyword]
  return words === undefined ? 'does not have the required format' : words(error)
}

const atMost: Words = ({ params: { limit } }) => `must have at most ${count(limit, 'entry', 'entries')}`
const atLeast: Words = ({ params: { limit } }) => `must have at least ${count(limit, 'entry', 'entries')}`
const asNumber: Words = ({ parentSchema = {} }) => `must be ${nameOfNumber(parentSchema)}`

type Words = (error: SchemaViolation) => string
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
  pattern: ({ params }) => patternMessage(params.pattern) ?? 'does not have the required format',
  format: ({ params }) => FORMATS[params.format] ?? `must be a ${params.format}`,
  enum: ({ params: { allowedValues: values } }) =>
    values.length > VALUES_SHOWN_MAX
      ? 'is not one of the allowed values'
      : `must be one of: ${values.join(', ')}`,
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

/** Returns the replacement of a member that callers expect but that does not exist. */
function absentWords(member: string, { 'x-absent': absent = {} }: Schema = {}): string | undefined {
  const words = absent as Record<string, string>
  return Object.hasOwn(words, member) ? words[member] : undefined
}

/** Returns the rule that the names of members must follow, for an object whose members the caller names. */
function nameWords({ patternProperties = {} }: Schema = {}): string | undefined {
  const [pattern] = Object.keys(patternProperties as object)
  return pattern === undefined ? undefined : patternMessage(pattern)
}

const count = (of: number, one: string, many: string) => `${of} ${of === 1 ? one : many}`
