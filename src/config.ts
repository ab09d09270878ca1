import { readFileSync } from 'node:fs'
import { parse } from 'yaml'
import { OperatorError } from './kernel/errors.ts'
import { currencies } from './kernel/money.ts'
import { nearest } from './kernel/nearest.ts'
import { type Static, type TSchema, Type } from './kernel/schema.ts'
import { compileSchema } from './kernel/validate.ts'

const section = <P extends Record<string, TSchema>>(description: string, properties: P) =>
  Type.Object(properties, { description, additionalProperties: false })
const count = (description: string, byDefault: number, minimum = 1, maximum = 1_000_000) =>
  Type.Integer({ description, default: byDefault, minimum, maximum })
const flag = (description: string, byDefault: boolean) => Type.Boolean({ description, default: byDefault })
const text = (description: string, byDefault: string) => Type.String({ description, default: byDefault })
const moduleSwitch = (description: string) =>
  section(description, { enabled: flag('Whether the module runs.', true) })

const Issuer = Type.Object(
  {
    issuer: Type.String({ pattern: '^https?://' }),
    audience: Type.String({ minLength: 1 }),
    algorithms: Type.Optional(
      Type.Array(Type.Enum(['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA']), { minItems: 1 })
    ),
    admin_claim: Type.Optional(
      Type.Object({ path: Type.String({ minLength: 1 }), value: Type.String({ minLength: 1 }) })
    )
  },
  { additionalProperties: false }
)

/** Every key there is. The example file, the checks at start and the type `Config` all come from here. */
export const ConfigSchema = section('Cartwright reads this file at start; every key is optional.', {
  environment: Type.Enum(['development', 'production'], {
    description:
      'In production the server listens on every address, and nothing is made up: no demo, no admin. NODE_ENV sets it too.',
    default: 'development'
  }),
  data: text('The folder of the embedded database and of files. CARTWRIGHT_DATA sets it too.', '.data'),
  shop: section('The shop.', {
    name: text('Its name, as e-mails and the documentation page show it.', 'Cartwright'),
    currency: Type.Enum(Object.keys(currencies), {
      description: 'The currency of all prices (ISO 4217).',
      default: 'USD'
    }),
    demo: Type.Enum(['auto', 'on', 'off'], {
      description:
        'Load the demo catalog into an empty catalog: auto does so in development with the embedded database.',
      default: 'auto'
    })
  }),
  server: section('The HTTP server.', {
    host: text(
      'Address to listen on; empty: 127.0.0.1 in development, 0.0.0.0 in production. HOST sets it too.',
      ''
    ),
    port: count('Port to listen on. PORT sets it too; 0 takes a free one.', 8080, 0, 65_535),
    public_url: text(
      'How clients reach the server, as token issuer and in links; empty: the address it listens on.',
      ''
    ),
    trust_proxy: flag('Believe X-Forwarded-For. Only behind a proxy that sets it.', false),
    body_bytes_max: count('The largest request body, in bytes.', 1_048_576, 1_024, 16_777_216),
    concurrent_requests_max: count('Requests under /api worked on at once; more are answered 503.', 1_000),
    drain_seconds: count(
      'After a stop signal, go on serving for so long, while /readyz already answers 503.',
      0,
      0,
      300
    )
  }),
  database: section('PostgreSQL.', {
    url: text(
      'Connection URL of a PostgreSQL 15 or newer; empty: the embedded one. DATABASE_URL sets it too.',
      ''
    ),
    pool_size: count('Connections of each process for transactions.', 8, 1, 200),
    shared_connections: count('Pipelined connections of each process for single statements.', 2, 1, 16),
    pool_wait_ms: count('How long a transaction may wait for a connection, in milliseconds.', 500, 1, 60_000),
    statement_timeout_ms: count('How long one statement may run, in milliseconds.', 5_000, 1, 600_000),
    lock_timeout_ms: count('How long one statement may wait for a lock, in milliseconds.', 1_000, 1, 60_000)
  }),
  cache: section('What may be lost: product pages, lists, documents of issuers.', {
    url: text('URL of a Redis or Valkey server; empty: in this process. REDIS_URL sets it too.', ''),
    entries_max: count('The most entries kept in this process.', 10_000)
  }),
  log: section('Logging: JSON lines on standard output.', {
    level: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      description: 'The least important line that is still written.',
      default: 'info'
    })
  }),
  rate_limit: section('Limits on requests under /api, a minute and caller. Diagnostics are never limited.', {
    enabled: flag('Whether there are limits.', true),
    public_per_minute: count('Public routes, by client address.', 1_200),
    secured_per_minute: count('Secured routes, by user.', 1_200),
    admin_per_minute: count('Admin routes, by user.', 2_400),
    login_per_minute: count('Log-in and token refresh, by client address.', 30),
    register_per_minute: count('Registration, by client address.', 10)
  }),
  modules: section('Which modules run. A disabled module answers 503 on all of its paths.', {
    auth: moduleSwitch('Accounts, sessions, tokens.'),
    catalog: moduleSwitch('Products, categories, discounts.'),
    cart: moduleSwitch('Carts, guest carts and their merge.')
  }),
  auth: section('Accounts and tokens.', {
    registration: Type.Enum(['open', 'invite', 'closed'], {
      description: 'Who may register: everybody, holders of an invitation code, nobody.',
      default: 'open'
    }),
    email_domains: Type.Array(Type.String({ minLength: 1 }), {
      description: 'The only domains of e-mail addresses that may register; empty: any.',
      default: []
    }),
    password_length_min: count('The shortest password accepted, in characters.', 12, 8, 128),
    access_token_seconds: count('How long an access token lives, in seconds.', 900, 10, 86_400),
    session_idle_days: count('A session not refreshed for so long has ended, in days.', 7, 1, 365),
    session_days: count('A session ends after this, refreshed or not, in days.', 30, 1, 3_650),
    password_hashes_at_once: count('Password hashes computed at once; more wait.', 2, 1, 64),
    failed_logins_max: count(
      'Failed log-ins of one account within 15 minutes before it must wait.',
      10,
      1,
      1_000
    ),
    admin_email: text(
      'E-mail of the administrator made at start when there is none. CARTWRIGHT_ADMIN_EMAIL sets it too.',
      ''
    ),
    admin_password: text('Their password. CARTWRIGHT_ADMIN_PASSWORD sets it too.', ''),
    issuers: Type.Array(Issuer, {
      description:
        'OpenID Connect issuers whose access tokens are accepted beside our own: issuer, audience, algorithms (RS256), admin_claim { path, value }.',
      default: []
    })
  }),
  catalog: section('The catalog.', {
    offers_bytes_max: count(
      'Memory for cached offers of variants in this process, in bytes.',
      134_217_728,
      0,
      8_589_934_592
    ),
    page_cache_seconds: count(
      'How long product pages and lists may be cached; edits drop them at once.',
      60,
      0,
      86_400
    )
  }),
  cart: section('Carts.', {
    line_quantity_max: count('The largest quantity of one line.', 99),
    lines_max: count('The most lines of one cart.', 200, 1, 10_000),
    idle_days: count('A cart not changed for so long has expired, in days.', 30, 1, 3_650)
  })
})

export type Config = DeepReadonly<Static<typeof ConfigSchema>>
type DeepReadonly<T> = { readonly [K in keyof T]: DeepReadonly<T[K]> }

/** The short names that hosting platforms and habits expect, and the keys they stand for. */
const SHORT_NAMES: Record<string, string> = {
  PORT: 'server.port',
  HOST: 'server.host',
  DATABASE_URL: 'database.url',
  REDIS_URL: 'cache.url',
  NODE_ENV: 'environment',
  CARTWRIGHT_DATA: 'data',
  CARTWRIGHT_ADMIN_EMAIL: 'auth.admin_email',
  CARTWRIGHT_ADMIN_PASSWORD: 'auth.admin_password'
}
const LONG_PREFIX = 'CARTWRIGHT__'
const OTHER_NAMES = new Set(['CARTWRIGHT_CONFIG'])

type Environment = Readonly<Record<string, string | undefined>>
type Tree = { [key: string]: unknown }

/**
 * The configuration: defaults, under `config.yaml` (or the file that CARTWRIGHT_CONFIG names), under the environment.
 * @throws OperatorError that lists every wrong or unknown key, why, and the nearest known one.
 */
export function loadConfig(environment: Environment = process.env): Config {
  const problems: string[] = []
  const tree = readFile(environment.CARTWRIGHT_CONFIG)
  for (const [path, value, name] of environmentValues(environment, problems))
    assign(tree, path, value, name, problems)
  fill(ConfigSchema, tree, '', problems)
  for (const error of compileSchema(ConfigSchema)(tree)) {
    const path = error.instancePath.slice(1).replaceAll('/', '.')
    if (error.keyword !== 'additionalProperties')
      problems.push(`${path}: ${error.message}${allowed(error.params)}`)
  }
  if (problems.length > 0) {
    throw new OperatorError(`The configuration is wrong:\n  ${[...new Set(problems)].join('\n  ')}`)
  }
  return freeze(tree) as Config
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
  try {
    const tree: unknown = parse(content) ?? {}
    if (isTree(tree)) return tree
  } catch (error) {
    throw new OperatorError(`The configuration file ${path} is not YAML: ${(error as Error).message}`)
  }
  throw new OperatorError(`The configuration file ${path} must hold keys and values.`)
}

function* environmentValues(
  environment: Environment,
  problems: string[]
): Generator<[string[], string, string]> {
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue
    const short = SHORT_NAMES[name]
    if (short !== undefined) {
      // Test runners and tools set values of their own here ("test"); they mean development.
      if (name === 'NODE_ENV' && value !== 'production') continue
      yield [short.split('.'), value, name]
    } else if (name.startsWith(LONG_PREFIX)) {
      yield [name.slice(LONG_PREFIX.length).toLowerCase().split('__'), value, name]
    } else if (name.startsWith('CARTWRIGHT_') && !OTHER_NAMES.has(name)) {
      const known = Object.keys(SHORT_NAMES).filter(each => each.startsWith('CARTWRIGHT_'))
      problems.push(`${name}: unknown variable${suggestion(name, [...known, ...OTHER_NAMES])}`)
    }
  }
}

/** Puts the text of a variable where it belongs, as the type its key has. */
function assign(tree: Tree, path: string[], value: string, name: string, problems: string[]): void {
  let schema: unknown = ConfigSchema
  let node = tree
  for (const [index, key] of path.entries()) {
    const properties = (schema as { properties?: Record<string, unknown> }).properties
    schema = properties?.[key]
    if (schema === undefined) {
      problems.push(`${name}: unknown key ${path.join('.')}${suggestion(key, Object.keys(properties ?? {}))}`)
      return
    }
    if (index < path.length - 1) node = (isTree(node[key]) ? node[key] : (node[key] = {})) as Tree
  }
  const isText = (schema as { type?: string }).type === 'string' || 'enum' in (schema as object)
  node[path.at(-1) as string] = isText ? value : parse(value)
}

/** Fills in the defaults and reports unknown keys, in one walk. */
function fill(schema: unknown, tree: Tree, path: string, problems: string[]): void {
  const { properties = {} } = schema as { properties?: Record<string, Tree> }
  for (const key of Object.keys(tree)) {
    if (properties[key] === undefined) {
      problems.push(`${path}${key}: unknown key${suggestion(key, Object.keys(properties))}`)
    }
  }
  for (const [key, property] of Object.entries(properties)) {
    if ('properties' in property) {
      const value = tree[key] ?? {}
      tree[key] = value
      if (isTree(value)) fill(property, value, `${path}${key}.`, problems)
    } else if (tree[key] === undefined) {
      tree[key] = structuredClone(property.default)
    }
  }
}

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const suggestion = (word: string, known: readonly string[]) => {
  const near = nearest(word, known)
  return near === undefined ? '' : ` (did you mean ${near}?)`
}
const allowed = (params: object) =>
  'allowedValues' in params ? ` (${(params.allowedValues as unknown[]).join(', ')})` : ''

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const inner of Object.values(value)) freeze(inner)
    Object.freeze(value)
  }
  return value
}
