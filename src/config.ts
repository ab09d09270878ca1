import {
  CONFIG_FILE_VARIABLE,
  formatYamlError,
  parseJsonOrYamlConfigValue,
  readConfigFile
} from './config-file.ts'
import {
  type ConfigJsonSchema,
  type ConfigTree,
  findConfigSchemaProblems,
  formatSettingProblem,
  isConfigTree,
  maskUrlPassword,
  unknownNameHint
} from './config-problems.ts'
import {
  type ConfigOfModules,
  type ConfigurableModule,
  configKeysByShortVariable,
  configSchema
} from './config-schema.ts'
import { findCoreSettingValueProblems, findSettingContradictions } from './config-values.ts'
import { certainlyMatchesSchema } from './kernel/certain-match.ts'
import { OperatorError } from './kernel/errors.ts'
import type { SettingProblem } from './kernel/settings.ts'
import { type ComposableModule, findModuleProblems } from './module-problems.ts'
import { type Config, CoreSettings, DATA_FOLDER_DEFAULT } from './platform/core-settings.ts'

export type { Config, ConfigOfModules }

type Environment = Readonly<Record<string, string | undefined>>

const LONG_PREFIX = 'CARTWRIGHT__'
/** Values of NODE_ENV that mean development. Test runners set it to `test`. */
const DEVELOPMENT = ['', 'development', 'test']

/** The schema of all keys, and the keys that short environment variables set. */
type Known = { schema: ConfigJsonSchema; shortNames: Readonly<Record<string, string>> }

/**
 * Loads the configuration: defaults, overridden by `config.yaml` (or the file that CARTWRIGHT_CONFIG names, or `content`),
 * overridden by the environment. Makes all checks that need no connection; the start and `config check` call it.
 * @throws OperatorError that lists every invalid or unknown key, its value unless it is a secret, and what to write.
 */
export function loadConfig<const M extends ConfigurableModule & ComposableModule>(
  modules: readonly M[],
  environment: Environment = process.env,
  content?: object
): ConfigOfModules<M> {
  const reading = read(modules, environment, content)
  const { tree, problems } = reading
  // Checks across settings run only when each setting is valid, because they rely on it.
  if (problems.length === 0)
    problems.push(
      ...findSettingContradictions(tree as Config),
      ...moduleSettingProblems(modules, tree as Config)
    )
  const isSwitched = !problems.some(({ key }) => key.split('.')[0] === 'modules')
  const unfit = isSwitched ? findModuleProblems(modules, tree.modules as Config['modules']) : []
  return finish(reading, unfit)
}

/**
 * Loads the configuration for commands that need only the database. Does not check whether settings or modules fit together.
 * @throws OperatorError that lists every invalid or unknown key.
 */
export const loadConfigWithoutModuleChecks = <const M extends ConfigurableModule>(
  modules: readonly M[],
  environment: Environment = process.env
): ConfigOfModules<M> => finish(read(modules, environment))

type Reading = { known: Known; tree: ConfigTree; origins: Origins; problems: SettingProblem[] }

function read(modules: readonly ConfigurableModule[], environment: Environment, content?: object): Reading {
  const known: Known = {
    schema: configSchema(modules) as ConfigJsonSchema,
    shortNames: configKeysByShortVariable(modules)
  }
  const problems: SettingProblem[] = []
  const origins: Origins = new Map()
  const tree = readTree(known, environment, problems, origins, content)
  fill(known.schema, tree, '', problems)
  const isReported = ({ key }: SettingProblem) => problems.some(problem => problem.key === key)
  if (!certainlyMatchesSchema(known.schema, tree))
    problems.push(...findConfigSchemaProblems(known.schema, tree).filter(problem => !isReported(problem)))
  problems.push(...findCoreSettingValueProblems(tree).filter(problem => !isReported(problem)))
  return { known, tree, origins, problems }
}

function moduleSettingProblems(modules: readonly ConfigurableModule[], config: Config): SettingProblem[] {
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

function finish<M extends ConfigurableModule>(
  { known: { schema }, tree, origins, problems }: Reading,
  unfit: readonly string[] = []
): ConfigOfModules<M> {
  const lines = [
    ...problems.map(problem => formatSettingProblem(problem, { schema, tree, origins })),
    ...unfit
  ]
  if (lines.length > 0) throw new OperatorError(`The configuration is wrong:\n  ${lines.join('\n  ')}`)
  return freeze(tree) as ConfigOfModules<M>
}

/**
 * Returns the data folder of the embedded database before the modules are loaded. Returns undefined when another database is
 * configured, or when the configuration cannot be read; `loadConfig` reports that later.
 */
export function findDataFolderBeforeModulesLoad(environment: Environment = process.env): string | undefined {
  try {
    const known: Known = {
      schema: CoreSettings as ConfigJsonSchema,
      shortNames: configKeysByShortVariable([])
    }
    const { data = DATA_FOLDER_DEFAULT, database } = readTree(known, environment, [], new Map())
    const url = isConfigTree(database) ? (database.url ?? '') : (database ?? '')
    return typeof data === 'string' && url === '' ? data : undefined
  } catch {
    return undefined
  }
}

/** Whether the configuration is valid and sets no key of a module. */
export function isConfigValidWithoutModuleKeys(environment: Environment = process.env): boolean {
  try {
    loadConfig([], environment)
    return true
  } catch {
    return false
  }
}

const MASK = '***'

/** Returns the configuration with `***` for every secret and for the passwords of its URLs. */
export function maskConfigSecrets<const M extends ConfigurableModule>(
  modules: readonly M[],
  config: ConfigOfModules<M>
): ConfigTree {
  const masked = (schema: ConfigJsonSchema | undefined, value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(item => masked(schema?.items, item))
    if (isConfigTree(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, inner]) => [key, masked(schema?.properties?.[key], inner)])
      )
    if (typeof value !== 'string' || value === '') return value
    return schema?.writeOnly ? MASK : maskUrlPassword(value)
  }
  return masked(configSchema(modules) as ConfigJsonSchema, config) as ConfigTree
}

/** The environment variable that set a key, by key. */
type Origins = Map<string, string>

function readTree(
  known: Known,
  environment: Environment,
  problems: SettingProblem[],
  origins: Origins,
  content?: object
): ConfigTree {
  const tree =
    content === undefined
      ? readConfigFile(environment[CONFIG_FILE_VARIABLE])
      : (structuredClone(content) as ConfigTree)
  for (const [path, value, name] of environmentValues(known, environment, problems)) {
    assign(known.schema, tree, path, value, name, problems)
    origins.set(path.join('.'), name)
  }
  return tree
}

/** Yields values of the environment as path, value and variable. Long names come last, so that they win. */
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
      name !== CONFIG_FILE_VARIABLE &&
      !Object.hasOwn(known.shortNames, name)
    ) {
      problems.push({ key: name, message: `unknown variable${unknownNameHint(name, variableNames(known))}` })
    }
  }
}

function variableNames(known: Known): string[] {
  const long = (schema: ConfigJsonSchema, name: string): string[] =>
    Object.entries(schema.properties ?? {}).flatMap(([key, property]) => {
      const own = `${name}__${key.toUpperCase()}`
      return property.properties === undefined ? [own] : long(property, own)
    })
  return [CONFIG_FILE_VARIABLE, ...Object.keys(known.shortNames), ...long(known.schema, 'CARTWRIGHT')]
}

/** Sets the key of a variable in the tree, converted to the type of the key. */
function assign(
  root: ConfigJsonSchema,
  tree: ConfigTree,
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
      problems.push({ key: name, message: `unknown key ${path.join('.')}${unknownNameHint(key, known)}` })
      return
    }
    schema = property
  }
  let node = tree
  for (const key of path.slice(0, -1)) {
    const inner = isConfigTree(node[key]) ? node[key] : {}
    node[key] = inner
    node = inner
  }
  const last = path.at(-1) as string
  node[last] = value
  if (schema.type === 'string') return
  try {
    node[last] = parseJsonOrYamlConfigValue(value)
  } catch (error) {
    // Other text that is not YAML, such as *, stays text; the schema then reports its type.
    if (/^\s*[[{]/.test(value))
      problems.push({ key: path.join('.'), message: `must be valid YAML: ${formatYamlError(error)}` })
  }
}

/** Fills in the defaults, for keys without a value too, and reports unknown keys. */
function fill(schema: ConfigJsonSchema, tree: ConfigTree, path: string, problems: SettingProblem[]): void {
  const properties = schema.properties ?? {}
  for (const key of Object.keys(tree)) {
    if (propertyOf(schema, key) !== undefined) continue
    problems.push({
      key: `${path}${key}`,
      message: `unknown key${unknownNameHint(key, Object.keys(properties))}`
    })
    delete tree[key]
  }
  for (const [key, property] of Object.entries(properties)) {
    if (property.properties !== undefined) {
      tree[key] ??= {}
      if (isConfigTree(tree[key])) fill(property, tree[key], `${path}${key}.`, problems)
    } else {
      tree[key] ??= structuredClone(property.default)
    }
  }
}

const propertyOf = (schema: ConfigJsonSchema, key: string): ConfigJsonSchema | undefined =>
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
