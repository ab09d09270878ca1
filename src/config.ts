import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  BaseSchema,
  type Config,
  type ConfigOf,
  type Configurable,
  configSchema,
  DATA_DEFAULT,
  shortNames
} from './config-schema.ts'
import { valueProblems } from './config-values.ts'
import { OperatorError } from './kernel/errors.ts'
import { pathOf, wordsOf } from './kernel/faults.ts'
import { nearest } from './kernel/nearest.ts'
import { fitsPlainly } from './kernel/plain-fit.ts'
import { compileSchema, type SchemaError } from './kernel/validate.ts'

export type { Config, ConfigOf }

const require = createRequire(import.meta.url)
/** Loaded for a file, and for lists in variables: numbers and switches are the same in JSON, and most starts need no more. */
const parseYaml = (text: string): unknown => (require('yaml') as typeof import('yaml')).parse(text)
const PLAIN = /^(?:true|false|0|-?[1-9]\d{0,14})$/
const parse = (text: string): unknown => (PLAIN.test(text) ? JSON.parse(text) : parseYaml(text))

type Environment = Readonly<Record<string, string | undefined>>
type Tree = { [key: string]: unknown }
type Schema = {
  properties?: Record<string, Schema>
  items?: Schema
  type?: string
  enum?: string[]
  default?: unknown
  writeOnly?: boolean
}

const LONG_PREFIX = 'CARTWRIGHT__'
const FILE_NAME = 'CARTWRIGHT_CONFIG'
const KEYS_SHOWN_MAX = 3
/** What NODE_ENV says beside `production`; test runners set it to `test`. */
const DEVELOPMENT = ['', 'development', 'test']

/** What is known of the keys: all of them, and the variables that stand for some. */
type Known = { schema: Schema; shortNames: Readonly<Record<string, string>> }

/**
 * The configuration: defaults, under `config.yaml` (or the file that CARTWRIGHT_CONFIG names, or `content` in the place of
 * a file), under the environment.
 * @throws OperatorError that lists every wrong or unknown key, why, and the nearest known one.
 */
export function loadConfig<const M extends Configurable>(
  modules: readonly M[],
  environment: Environment = process.env,
  content?: object
): ConfigOf<M> {
  const known: Known = { schema: configSchema(modules) as Schema, shortNames: shortNames(modules) }
  const problems: string[] = []
  const origins: Origins = new Map()
  const tree = readTree(known, environment, problems, origins, content)
  fill(known.schema, tree, '', problems)
  if (!fitsPlainly(known.schema, tree) && compileSchema(known.schema)(tree).length > 0)
    explain(known.schema, tree, '', problems)
  problems.push(...valueProblems(tree))
  const told = problems.map(problem => withOrigin(problem, origins))
  if (told.length > 0) throw new OperatorError(`The configuration is wrong:\n  ${told.join('\n  ')}`)
  return freeze(tree) as ConfigOf<M>
}

/**
 * The folder of the embedded database, as far as it is known before the modules are loaded and all is checked:
 * `undefined` where another database is named, or something is wrong, which the check reports.
 */
export function peekDataFolder(environment: Environment = process.env): string | undefined {
  try {
    const known: Known = { schema: BaseSchema as Schema, shortNames: shortNames([]) }
    const { data = DATA_DEFAULT, database } = readTree(known, environment, [], new Map())
    const url = isTree(database) ? (database.url ?? '') : (database ?? '')
    return typeof data === 'string' && url === '' ? data : undefined
  } catch {
    return undefined
  }
}

/** Whether nothing that is configured belongs to a module, and all of it is right: then no module finds fault with it. */
export function isRightWithoutModules(environment: Environment = process.env): boolean {
  try {
    loadConfig([], environment)
    return true
  } catch {
    return false
  }
}

const MASK = '***'
// `scheme://user:password@host`
const PASSWORD_OF_URL = /(:\/\/[^\s:@/]*:)[^\s@]+@/g

/** A configuration to be looked at: every secret in it, and the passwords of its URLs, are `***`. */
export function withoutSecrets<const M extends Configurable>(
  modules: readonly M[],
  config: ConfigOf<M>
): Tree {
  const masked = (schema: Schema | undefined, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(item => masked(schema?.items, item))
    if (isTree(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, masked(schema?.properties?.[key], inner)])
      )
    if (typeof value !== 'string' || value === '') return value
    return schema?.writeOnly ? MASK : value.replace(PASSWORD_OF_URL, `$1${MASK}@`)
  }
  return masked(configSchema(modules) as Schema, config) as Tree
}

/** The variable that set a key, of those that one did. */
type Origins = Map<string, string>

function readTree(
  known: Known,
  environment: Environment,
  problems: string[],
  origins: Origins,
  content?: object
): Tree {
  const tree = content === undefined ? readFile(environment[FILE_NAME]) : (structuredClone(content) as Tree)
  for (const [path, value, name] of environmentValues(known, environment, problems)) {
    assign(known.schema, tree, path, value, name, problems)
    origins.set(path.join('.'), name)
  }
  return tree
}

/** A problem begins with its key; whoever set that by a variable may not know the key. */
function withOrigin(problem: string, origins: Origins): string {
  const key = problem.slice(0, problem.indexOf(':'))
  const [, name] = [...origins].find(([set]) => key === set || key.startsWith(`${set}.`)) ?? []
  return name === undefined ? problem : `${problem} (set by ${name})`
}

function readFile(named: string | undefined): Tree {
  const path = named ?? 'config.yaml'
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    if (named === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new OperatorError(`Cannot read the configuration file ${path}: ${(error as Error).message}`)
  }
  let tree: unknown
  try {
    tree = parseYaml(content) ?? {}
  } catch (error) {
    throw new OperatorError(`The configuration file ${path} is not YAML: ${yamlReason(error)}`)
  }
  if (isTree(tree)) return tree
  throw new OperatorError(`The configuration file ${path} must hold keys and values.`)
}

// Behind the first line the parser quotes the file, which may hold passwords.
const yamlReason = (error: unknown) => (error as Error).message.split('\n')[0]?.replace(/:$/, '.')

/** What the environment says, the long names last, so that they win. */
function* environmentValues(
  known: Known,
  environment: Environment,
  problems: string[]
): Generator<[string[], string, string]> {
  const given = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined
  )
  for (const [name, value] of given) {
    const key = known.shortNames[name]
    if (key === undefined) continue
    if (name === 'NODE_ENV' && value !== 'production') {
      if (!DEVELOPMENT.includes(value))
        problems.push(`NODE_ENV: ${value} is not known; it must be production, development or test`)
      continue
    }
    yield [key.split('.'), value, name]
  }
  for (const [name, value] of given) {
    if (name.startsWith(LONG_PREFIX)) {
      yield [name.slice(LONG_PREFIX.length).toLowerCase().split('__'), value, name]
    } else if (
      name.startsWith('CARTWRIGHT_') &&
      name !== FILE_NAME &&
      !Object.hasOwn(known.shortNames, name)
    ) {
      problems.push(`${name}: unknown variable${suggestion(name, variableNames(known))}`)
    }
  }
}

function variableNames(known: Known): string[] {
  const long = (schema: Schema, name: string): string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
      const own = `${name}__${key.toUpperCase()}`
      return property.properties === undefined ? [own] : long(property, own)
    })
  return [FILE_NAME, ...Object.keys(known.shortNames), ...long(known.schema, 'CARTWRIGHT')]
}

/** Puts the text of a variable where it belongs, as the type its key has. */
function assign(
  root: Schema,
  tree: Tree,
  path: string[],
  value: string,
  name: string,
  problems: string[]
): void {
  let schema = root
  for (const key of path) {
    const property = propertyOf(schema, key)
    if (property === undefined) {
      const known = Object.keys(schema.properties ?? {})
      problems.push(`${name}: unknown key ${path.join('.')}${suggestion(key, known)}`)
      return
    }
    schema = property
  }
  let node = tree
  for (const key of path.slice(0, -1)) {
    const inner = isTree(node[key]) ? node[key] : {}
    node[key] = inner
    node = inner
  }
  try {
    node[path.at(-1) as string] = schema.type === 'string' ? value : parse(value)
  } catch (error) {
    problems.push(`${name}: not YAML: ${yamlReason(error)}`)
  }
}

/** Fills in the defaults, for keys without a value too, and reports unknown keys. */
function fill(schema: Schema, tree: Tree, path: string, problems: string[]): void {
  const properties = schema.properties ?? {}
  for (const key of Object.keys(tree)) {
    if (propertyOf(schema, key) !== undefined) continue
    problems.push(`${path}${key}: unknown key${suggestion(key, Object.keys(properties))}`)
    delete tree[key]
  }
  for (const [key, property] of Object.entries(properties)) {
    if (property.properties !== undefined) {
      tree[key] ??= {}
      if (isTree(tree[key])) fill(property, tree[key], `${path}${key}.`, problems)
    } else {
      tree[key] ??= structuredClone(property.default)
    }
  }
}

/** Reports what does not fit, key by key. */
function explain(schema: Schema, value: unknown, path: string, problems: string[]): void {
  if (schema.properties !== undefined && isTree(value)) {
    for (const [key, property] of Object.entries(schema.properties))
      explain(property, value[key], path === '' ? key : `${path}.${key}`, problems)
    return
  }
  const found = compileSchema(schema)(value).map(
    error => `${path}${pathOf(error).replaceAll('/', '.')}: ${reasonOf(error, value)}`
  )
  problems.push(...new Set(found))
}

function reasonOf(error: SchemaError, value: unknown): string {
  const { params } = error
  if ('additionalProperty' in params) return 'unknown key'
  if (error.keyword === 'type' && params.type === 'object') return `${wordsOf(error)}${keysOf(error)}`
  const isChoice = 'allowedValues' in params
  return isChoice ? `${wordsOf(error)}${suggestion(String(value), params.allowedValues)}` : wordsOf(error)
}

function keysOf({ parentSchema = {} }: SchemaError): string {
  const keys = Object.keys((parentSchema as Schema).properties ?? {}).slice(0, KEYS_SHOWN_MAX)
  return keys.length === 0 ? '' : `, with keys such as ${keys.join(', ')}`
}

const propertyOf = (schema: Schema, key: string): Schema | undefined =>
  schema.properties !== undefined && Object.hasOwn(schema.properties, key)
    ? schema.properties[key]
    : undefined
const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const suggestion = (word: string, known: readonly string[]) => {
  const near = nearest(word, known)
  return near === undefined ? '' : ` (did you mean ${near}?)`
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}
