import { currencies } from './kernel/money.ts'
import { type Static, type TSchema, Type } from './kernel/schema.ts'

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
      Type.Object(
        { path: Type.String({ minLength: 1 }), value: Type.String({ minLength: 1 }) },
        { additionalProperties: false }
      )
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
      'How clients reach the server: the issuer (`iss`) of its access tokens. Empty: `cartwright`.',
      ''
    ),
    trust_proxy: flag(
      'Take the last address of X-Forwarded-For as the client. Only behind one proxy that sets it.',
      false
    ),
    body_bytes_max: count('The largest request body, in bytes.', 1_048_576, 1_024, 16_777_216),
    body_seconds: count('How long a body may take to arrive, in seconds; files may take longer.', 10, 1, 300),
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
    slow_connections: count(
      'Connections of each process for searches and lists, which wait for each other there and keep nobody else.',
      4,
      1,
      200
    ),
    pool_wait_ms: count(
      'How long a request may wait for a connection, and a connection to be made, in milliseconds.',
      500,
      50,
      60_000
    ),
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
    line_quantity_max: count('The largest quantity of one line.', 99, 1, 100_000),
    lines_max: count('The most lines of one cart.', 200, 1, 10_000),
    idle_days: count('A cart not changed for so long has expired, in days.', 30, 1, 3_650)
  })
})

export type Config = DeepReadonly<Static<typeof ConfigSchema>>
type DeepReadonly<T> = { readonly [K in keyof T]: DeepReadonly<T[K]> }

/** The short names that hosting platforms and habits expect, and the keys they stand for. */
export const SHORT_NAMES: Readonly<Record<string, string>> = {
  PORT: 'server.port',
  HOST: 'server.host',
  DATABASE_URL: 'database.url',
  REDIS_URL: 'cache.url',
  NODE_ENV: 'environment',
  CARTWRIGHT_DATA: 'data',
  CARTWRIGHT_ADMIN_EMAIL: 'auth.admin_email',
  CARTWRIGHT_ADMIN_PASSWORD: 'auth.admin_password'
}
