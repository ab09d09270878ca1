import { compileSchema, type SchemaViolation } from './kernel/compile-schema.ts'
import { schemaErrorMessage, schemaErrorPath } from './kernel/faults.ts'
import { mostSimilarWord } from './kernel/most-similar-word.ts'
import type { SettingProblem } from './kernel/settings.ts'

export type ConfigTree = { [key: string]: unknown }
/** The keywords of the configuration's JSON Schema that are used here. */
export type ConfigJsonSchema = {
  properties?: Record<string, ConfigJsonSchema>
  items?: ConfigJsonSchema
  type?: string
  enum?: string[]
  default?: unknown
  writeOnly?: boolean
  'x-holds-password'?: boolean
}
/** The environment variable that set a key, by key. */
export type EnvironmentVariableByConfigKey = ReadonlyMap<string, string>

const KEYS_SHOWN_MAX = 3
const VALUES_SHOWN_MAX = 20
const VALUE_LENGTH_MAX = 100
// `scheme://user:password@host`
const PASSWORD_OF_URL = /(:\/\/[^\s:@/]*:)[^\s@]+@/g

export const maskUrlPassword = (text: string): string => text.replace(PASSWORD_OF_URL, '$1***@')

/** Returns the violations of the schema, at most one per key. */
export function findConfigSchemaProblems(
  schema: ConfigJsonSchema,
  value: unknown,
  path = ''
): SettingProblem[] {
  if (schema.properties !== undefined && isConfigTree(value))
    return Object.entries(schema.properties).flatMap(([key, property]) =>
      findConfigSchemaProblems(property, value[key], path === '' ? key : `${path}.${key}`)
    )
  const found = compileSchema(schema)(value).map(error => ({
    key: `${path}${schemaErrorPath(error).replaceAll('/', '.')}`,
    message: reasonOf(error, value)
  }))
  return found.filter(({ key }, index) => found.findIndex(other => other.key === key) === index)
}

function reasonOf(error: SchemaViolation, value: unknown): string {
  const { params, parentSchema = {} } = error
  const { properties = {}, default: byDefault } = parentSchema as ConfigJsonSchema
  if ('additionalProperty' in params)
    return `unknown key${unknownNameHint(params.additionalProperty, Object.keys(properties))}`
  if (error.keyword === 'type' && params.type === 'object')
    return `${schemaErrorMessage(error)}${keysOf(properties)}`
  if (error.keyword === 'type' && params.type === 'array')
    return `${schemaErrorMessage(error)}, such as [one, two]`
  if (error.keyword !== 'enum') return schemaErrorMessage(error)
  const { allowedValues: values } = params as { allowedValues: string[] }
  const words =
    values.length > VALUES_SHOWN_MAX
      ? `must be one of ${values.length} known values, such as ${byDefault ?? values[0]}`
      : schemaErrorMessage(error)
  const near = mostSimilarWord(String(value), values)
  return near === undefined ? words : `${words} (did you mean ${near}?)`
}

function keysOf(properties: Record<string, ConfigJsonSchema>): string {
  const keys = Object.keys(properties).slice(0, KEYS_SHOWN_MAX)
  return keys.length === 0 ? '' : `, with keys such as ${keys.join(', ')}`
}

/** Returns a hint for an unknown name: the most similar known name, or else to remove it, with some known names. */
export function unknownNameHint(word: string, known: readonly string[]): string {
  const near = mostSimilarWord(word, known)
  if (near !== undefined) return ` (did you mean ${near}?)`
  const some = known.slice(0, KEYS_SHOWN_MAX).join(', ')
  return some === '' ? ', remove it' : `, remove it or use a known one such as ${some}`
}

/** Formats a problem as a line: the key, what to write, the value unless it is a secret, and the variable that set it. */
export function formatSettingProblem(
  { key, message, isSecret = false }: SettingProblem,
  {
    schema,
    tree,
    origins
  }: { schema: ConfigJsonSchema; tree: ConfigTree; origins: EnvironmentVariableByConfigKey }
): string {
  const shown = isSecret ? undefined : shownValue(schema, tree, key)
  const [, name] = [...origins].find(([set]) => key === set || key.startsWith(`${set}.`)) ?? []
  const remarks = [shown !== undefined && `now ${shown}`, name !== undefined && `set by ${name}`].filter(
    Boolean
  )
  return `${key}: ${message}${remarks.length === 0 ? '' : ` (${remarks.join(', ')})`}`
}

/** Formats the value of a key. Returns undefined when it has none, or when it is or contains a secret. */
function shownValue(root: ConfigJsonSchema, tree: ConfigTree, key: string): string | undefined {
  let schema: ConfigJsonSchema | undefined = root
  let value: unknown = tree
  for (const name of key.split('.')) {
    schema = ownOf(schema?.properties, name) ?? schema?.items
    value = ownOf(value as ConfigTree | undefined, name)
  }
  if (schema === undefined || value === undefined) return undefined
  if (value === null || value === '') return 'empty'
  if (holdsSecret(schema)) return undefined
  if (isConfigTree(value)) return 'an object'
  if (Array.isArray(value) && value.some(each => typeof each === 'object')) return 'a list'
  const text = maskUrlPassword(JSON.stringify(value))
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}...` : text
}

const ownOf = <T>(object: Readonly<Record<string, T>> | undefined, name: string): T | undefined =>
  object != null && Object.hasOwn(object, name) ? object[name] : undefined

const holdsSecret = (schema: ConfigJsonSchema): boolean =>
  schema.writeOnly === true ||
  schema['x-holds-password'] === true ||
  (schema.items !== undefined && holdsSecret(schema.items)) ||
  Object.values(schema.properties ?? {}).some(holdsSecret)

export const isConfigTree = (value: unknown): value is ConfigTree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
