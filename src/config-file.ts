import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type ConfigTree, isConfigTree } from './config-problems.ts'
import { OperatorError } from './kernel/errors.ts'

const require = createRequire(import.meta.url)
/** Loads the YAML parser on demand. Numbers and booleans in variables are parsed as JSON, so most starts do not need it. */
const parseYaml = (text: string): unknown => (require('yaml') as typeof import('yaml')).parse(text)
const PLAIN = /^(?:true|false|0|-?[1-9]\d{0,14})$/
export const parseJsonOrYamlConfigValue = (text: string): unknown =>
  PLAIN.test(text) ? JSON.parse(text) : parseYaml(text)

/** The environment variable that names the configuration file. */
export const CONFIG_FILE_VARIABLE = 'CARTWRIGHT_CONFIG'

/** Reads the named file, or else `config.yaml` if it exists. Returns {} without a file. @throws OperatorError */
export function readConfigFile(named: string | undefined): ConfigTree {
  const path = named ?? 'config.yaml'
  let content: string
  try {
    content = readFileSync(path, 'utf8')
  } catch (error) {
    if (named === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new OperatorError(`The configuration file ${path} cannot be read: ${reasonOf(error)}.`)
  }
  let tree: unknown
  try {
    tree = parseYaml(content) ?? {}
  } catch (error) {
    throw new OperatorError(`The configuration file ${path} is not YAML: ${formatYamlError(error)}`)
  }
  if (isConfigTree(tree)) return tree
  throw new OperatorError(
    `The configuration file ${path} must hold keys and values, such as: server: { port: 8080 }`
  )
}

/** Returns why a file cannot be read, and what to do about it. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'ENOENT')
    return `it does not exist; create it, or name another file in ${CONFIG_FILE_VARIABLE}`
  if (code === 'EISDIR') return `it is a folder; name a file in ${CONFIG_FILE_VARIABLE}`
  if (code === 'EACCES') return 'this user may not read it; change its permissions'
  return message
}

// Keeps the first line only, because the parser quotes the file after it, and the file may hold passwords.
export const formatYamlError = (error: unknown) => (error as Error).message.split('\n')[0]?.replace(/:$/, '.')
