import { FILE_NAME, parse, readFile, yamlReason } from './config-file.ts'
import {
  describeProblem,
  isTree,
  type Schema,
  schemaProblems,
  suggestion,
  type Tree,
  withoutPassword
} from './config-problems.ts'
import {
  BaseSchema,
  type Config,
  type ConfigOf,
  type Configurable,
  configSchema,
  DATA_DEFAULT,
  shortNames
} from './config-schema.ts'
import { contradictions, valueProblems } from './config-values.ts'
import { OperatorError } from './kernel/errors.ts'
import { fitsPlainly } from './kernel/plain-fit.ts'
import type { SettingProblem } from './kernel/settings.ts'
import { type Composable, moduleProblems } from './module-problems.ts'

export type { Config, ConfigOf }

type Environment = Readonly<Record<string, string | undefined>>

const LONG_PREFIX = 'CARTWRIGHT__'
/** What NODE_ENV says beside `production`; test runners set it to `test`. */
const DEVELOPMENT = ['', 'development', 'test']

/** What is known of the keys: all of them, and the variables that stand for some. */
type Known = { schema: Schema; shortNames: Readonly<Record<string, string>> }

/**
 * The configuration: defaults, under `config.yaml` (or the file that CARTWRIGHT_CONFIG names, or `content` in the place of
 * a file), under the environment. Checks all that can be checked before anything is opened; the start and `config check` call it.
 * @throws OperatorError that lists every wrong or unknown key, its value unless it is a secret, and what to write.
 */
export function loadConfig<const M extends Configurable & Composable>(
  modules: readonly M[],
  environment: Environment = process.env,
  content?: object
): ConfigOf<M> {
  const reading = read(modules, environment, content)
  const { tree, problems } = reading
  // A check of several settings relies on the form of each.
  if (problems.length === 0)
    problems.push(...contradictions(tree as Config), ...moduleSettingProblems(modules, tree as Config))
  const isSwitched = !problems.some(({ key }) => key.split('.')[0] === 'modules')
  const unfit = isSwitched ? moduleProblems(modules, tree.modules as Config['modules']) : []
  return finish(reading, unfit)
}

/**
 * The same for commands that need the database alone: whether the settings of modules can be used together is not checked.
 * @throws OperatorError that lists every wrong or unknown key.
 */
export const readConfig = <const M extends Configurable>(
  modules: readonly M[],
  environment: Environment = process.env
): ConfigOf<M> => finish(read(modules, environment))

type Reading = { known: Known; tree: Tree; origins: Origins; problems: SettingProblem[] }

function read(modules: readonly Configurable[], environment: Environment, content?: object): Reading {
  const known: Known = { schema: configSchema(modules) as Schema, shortNames: shortNames(modules) }
  const problems: SettingProblem[] = []
  const origins: Origins = new Map()
  const tree = readTree(known, environment, problems, origins, content)
  fill(known.schema, tree, '', problems)
  const isReported = ({ key }: SettingProblem) => problems.some(problem => problem.key === key)
  if (!fitsPlainly(known.schema, tree))
    problems.push(...schemaProblems(known.schema, tree).filter(problem => !isReported(problem)))
  problems.push(...valueProblems(tree).filter(problem => !isReported(problem)))
  return { known, tree, origins, problems }
}

function moduleSettingProblems(modules: readonly Configurable[], config: Config): SettingProblem[] {
  const sections = config as unknown as Readonly<Record<string, never>>
  return modules
    .filter(({ name }) => config.modules[name]?.enabled === true)
    .flatMap(module =>
      (module.validate?.(sections[module.name] ?? ({} as never), config) ?? []).map(problem => ({
        ...problem,
        key: `${module.name}.${problem.key}`
      }))
    )
}

function finish<M extends Configurable>(
  { known: { schema }, tree, origins, problems }: Reading,
  unfit: readonly string[] = []
): ConfigOf<M> {
  const lines = [...problems.map(problem => describeProblem(problem, { schema, tree, origins })), ...unfit]
  if (lines.length > 0) throw new OperatorError(`The configuration is wrong:\n  ${lines.join('\n  ')}`)
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
    return schema?.writeOnly ? MASK : withoutPassword(value)
  }
  return masked(configSchema(modules) as Schema, config) as Tree
}

/** The variable that set a key, of those that one did. */
type Origins = Map<string, string>

function readTree(
  known: Known,
  environment: Environment,
  problems: SettingProblem[],
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

/** What the environment says, the long names last, so that they win. */
function* environmentValues(
  known: Known,
  environment: Environment,
  problems: SettingProblem[]
): Generator<[string[], string, string]> {
  const given = Object.entries(environment).filter(
    (entry): entry is [string, string] => entry[1] !== undefined
  )
  for (const [name, value] of given) {
    const key = known.shortNames[name]
    if (key === undefined) continue
    if (name === 'NODE_ENV' && value !== 'production') {
      if (!DEVELOPMENT.includes(value))
        problems.push({ key: name, message: `must be production, development or test (now "${value}")` })
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
      problems.push({ key: name, message: `unknown variable${suggestion(name, variableNames(known))}` })
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
  problems: SettingProblem[]
): void {
  let schema = root
  for (const key of path) {
    const property = propertyOf(schema, key)
    if (property === undefined) {
      const known = Object.keys(schema.properties ?? {})
      problems.push({ key: name, message: `unknown key ${path.join('.')}${suggestion(key, known)}` })
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
  const last = path.at(-1) as string
  node[last] = value
  if (schema.type === 'string') return
  try {
    node[last] = parse(value)
  } catch (error) {
    // What was not meant as YAML, such as *, has the wrong type, and the schema says so.
    if (/^\s*[[{]/.test(value))
      problems.push({ key: path.join('.'), message: `must be valid YAML: ${yamlReason(error)}` })
  }
}

/** Fills in the defaults, for keys without a value too, and reports unknown keys. */
function fill(schema: Schema, tree: Tree, path: string, problems: SettingProblem[]): void {
  const properties = schema.properties ?? {}
  for (const key of Object.keys(tree)) {
    if (propertyOf(schema, key) !== undefined) continue
    problems.push({
      key: `${path}${key}`,
      message: `unknown key${suggestion(key, Object.keys(properties))}`
    })
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

const propertyOf = (schema: Schema, key: string): Schema | undefined =>
  schema.properties !== undefined && Object.hasOwn(schema.properties, key)
    ? schema.properties[key]
    : undefined

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}
