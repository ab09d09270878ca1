import { currencies } from './kernel/money.ts'
import { matching } from './kernel/patterns.ts'
import { type TSchema, Type } from './kernel/schema.ts'
import {
  count,
  flag,
  type SettingProblem,
  type SettingsOf,
  section,
  text,
  urlWithPassword
} from './kernel/settings.ts'

export const DATA_DEFAULT = '.data'
const ABOUT = 'Cartwright reads this file at start; every key is optional.'

/** Scheme, host and port as browsers write them: in lower case, and without the port that the scheme has anyway. */
const ORIGIN = '^(?!https://.*:443$)(?!http://.*:80$)[a-z][a-z0-9+.-]*://[a-z0-9.:[\\]-]+$'

const ORIGIN_WORDS =
  'must be an origin as browsers send it, such as https://shop.example.com: no path, no slash at its end, and "*" (every page there is) is none'
const SECRET_KEY = '^(?:[0-9A-Fa-f]{64,512}|[A-Za-z0-9+/_-]{43,512}={0,2})$'
const CLIENT_SECRET = '^[!-~]{32,512}$'

const HOST = '^[a-z0-9_.:-]{1,253}$'
const HOST_WORDS = 'must be the name or address of a host, in lower case and without a port'
const PEER = '^[0-9a-f.:]{2,45}(?:/[0-9]{1,3})?$'
const PEER_WORDS = 'must be an IP address or a network, such as 172.17.0.0/16'
const SecretKey = Type.Object(
  {
    id: Type.String(
      matching('^[A-Za-z0-9_-]{1,32}$', 'must be 1 to 32 letters, digits, hyphens and underscores')
    ),
    key: Type.String({
      ...matching(
        SECRET_KEY,
        'must be at least 32 random bytes in hexadecimal or base64: openssl rand -hex 32'
      ),
      writeOnly: true
    })
  },
  { additionalProperties: false }
)

/** The keys that belong to no module. */
export const BaseSchema = section(ABOUT, {
  environment: Type.Enum(['development', 'production'], {
    description:
      'In production the server listens on every address, and nothing is made up: no demo, no admin. NODE_ENV sets it too; test means development.',
    default: 'development'
  }),
  data: Type.String({
    description: 'The folder of the embedded database and of files. CARTWRIGHT_DATA sets it too.',
    default: DATA_DEFAULT,
    minLength: 1
  }),
  shop: section('The shop.', {
    name: text('Its name. Passwords may not contain it.', 'Cartwright'),
    currency: Type.Enum(Object.keys(currencies), {
      description: 'The currency of all prices (ISO 4217).',
      default: 'USD'
    }),
    time_zone: text('Where a day starts that is sent without a time: a name such as Europe/Berlin.', 'UTC'),
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
    security_contacts: Type.Array(
      Type.String({
        maxLength: 1_000,
        ...matching('^(?:mailto:|https://|tel:)\\S+$', 'must be a URI such as mailto:security@example.com')
      }),
      {
        description:
          'To whom a weakness is reported: /.well-known/security.txt lists these URIs. Empty: 404.',
        default: []
      }
    ),
    trust_proxy: flag(
      'Take the last address of X-Forwarded-For as the client. Only behind one proxy that sets it.',
      false
    ),
    body_bytes_max: count(
      'The largest JSON body of any route, in bytes; each route has a limit of its own within it, by its schema.',
      1_048_576,
      1_024,
      1_048_576
    ),
    body_seconds: count('How long a body may take to arrive, in seconds; files may take longer.', 10, 1, 300),
    concurrent_requests_max: count(
      'The most requests under /api worked on at once; as many as keep answers quick, within this, is found out.',
      1_000
    ),
    connections_max: count(
      'The most connections; beyond, the address that has most of them loses one.',
      10_000,
      10
    ),
    diagnostics_port: count(
      'Another port for /healthz, /readyz and the metrics, served by a thread of its own that answers while the shop is busy; 0: none.',
      0,
      0,
      65_535
    ),
    private_metrics: flag(
      'Serve /metrics and /metricsz on the diagnostics port only. Recommended in production.',
      false
    ),
    docs: Type.Enum(['auto', 'on', 'off'], {
      description: 'Serve /docs and /openapi.json: auto does so in development only.',
      default: 'auto'
    }),
    development_hosts: Type.Array(Type.String(matching(HOST, HOST_WORDS)), {
      description:
        'In development, further names by which clients reach the server: [shop.test]. localhost, loopback addresses and the host of public_url always work.',
      default: [],
      uniqueItems: true
    }),
    development_peers: Type.Array(Type.String(matching(PEER, PEER_WORDS)), {
      description:
        'In development, further addresses and networks that may read /mails, such as those of containers and phones: [172.17.0.0/16]. This machine always may.',
      default: [],
      uniqueItems: true
    }),
    liveness_seconds: count(
      'On that port, /healthz answers 503 when the shop has done nothing for so long, in seconds.',
      30,
      2,
      3_600
    ),
    cors: section('Pages of other origins. Where shop front and API have one address, there are none.', {
      origins: Type.Array(Type.String(matching(ORIGIN, ORIGIN_WORDS)), {
        description:
          'The origins whose pages may use /api from a browser, exactly as browsers send them: [https://shop.example.com].',
        default: [],
        uniqueItems: true
      })
    }),
    trusted_clients: Type.Array(
      Type.String({
        ...matching(CLIENT_SECRET, 'must be 32 to 512 visible ASCII characters'),
        writeOnly: true
      }),
      {
        description:
          'Secrets of shop fronts that render on a server, 32 characters or more each (openssl rand -hex 32). Who sends one in X-Cartwright-Client names its shopper in X-Shopper-Address, and limits count them.',
        default: [],
        uniqueItems: true
      }
    ),
    drain_seconds: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description:
        'After a stop signal, go on serving for so long, while /readyz already answers 503. Empty: 5 in production, 0 in development.',
      default: null,
      minimum: 0,
      maximum: 300
    })
  }),
  database: section('PostgreSQL.', {
    url: urlWithPassword(
      'Connection URL of a PostgreSQL 15 or newer; empty: the embedded one. DATABASE_URL sets it too.'
    ),
    pool_size: count('Connections of each process for transactions.', 8, 1, 200),
    shared_connections: count('Pipelined connections of each process for quick reads.', 2, 1, 16),
    write_connections: count('Connections of each process for single statements that write.', 4, 1, 200),
    slow_connections: count(
      'Connections of each process for searches and lists, which wait for each other there and keep nobody else.',
      4,
      1,
      200
    ),
    pool_wait_ms: count(
      'How long a request may wait for a connection, and a connection to be made, in milliseconds. Requests wait before that: a burst for a second or so, a queue that stands for 200 ms.',
      2_000,
      50,
      60_000
    ),
    statement_timeout_ms: count('How long one statement may run, in milliseconds.', 5_000, 1, 600_000),
    lock_timeout_ms: count(
      'How long a transaction may wait for a lock before it gives its connection back and begins again, in milliseconds.',
      200,
      1,
      60_000
    )
  }),
  secrets: section('Keys outside of the database: they encrypt and sign what lies there.', {
    keys: Type.Array(SecretKey, {
      description:
        'Each { id, key }, the key 32 random bytes or more in base64 or hex (openssl rand -base64 32). The first one signs, the others verify what it signed before it was replaced. Empty: a file in the data folder, made at the first start; in production with DATABASE_URL they are needed here.',
      default: []
    })
  }),
  cache: section('What may be lost: product pages and lists.', {
    url: urlWithPassword('URL of a Redis or Valkey server; empty: in this process. REDIS_URL sets it too.'),
    entries_max: count('The most entries kept in this process.', 10_000)
  }),
  http: section('Requests that the shop sends to others.', {
    private_hosts: Type.Array(Type.String(matching(HOST, HOST_WORDS)), {
      description:
        'Hosts that may have an address in a private network: [erp.internal]. All others must be on the Internet; those that this file names by a URL may be anywhere.',
      default: [],
      uniqueItems: true
    })
  }),
  log: section('Logging: JSON lines on standard output.', {
    level: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      description: 'The least important line that is still written.',
      default: 'info'
    })
  }),
  rate_limit: section('Limits on requests, a minute and caller. Diagnostics are never limited.', {
    enabled: flag('Whether there are limits.', true),
    public_per_minute: count('Public routes and pages, by client address.', 1_200),
    secured_per_minute: count('Secured routes, by user.', 1_200),
    admin_per_minute: count('Admin routes, by user.', 2_400)
  })
})

/** What a module says about its part of the configuration. */
export type Configurable = {
  readonly name: string
  /** What it does, for the file of settings. */
  readonly description: string
  readonly settings?: TSchema
  /** Parts of it that are switched off by themselves. */
  readonly switches?: Readonly<Record<string, { readonly description: string }>>
  /** Variables that stand for keys of its settings. */
  readonly shortNames?: Readonly<Record<string, string>>
  /** See `Module`. */
  validate?(settings: never, config: Config): readonly SettingProblem[]
}

/** Every key there is: the example file and the checks at start come from here. */
export function configSchema(modules: readonly Configurable[]) {
  const taken = modules.find(({ name }) => Object.hasOwn({ ...BaseSchema.properties, modules: true }, name))
  if (taken !== undefined) throw new Error(`the module ${taken.name} has the name of another section`)
  const switches = modules.flatMap(({ name, description, switches: parts = {} }) => [
    [name, section(description, { enabled: flag('Whether the module runs.', true) })] as const,
    ...Object.entries(parts).map(
      ([part, of]) =>
        [
          part,
          section(of.description, { enabled: flag(`Whether this part of ${name} is there.`, true) })
        ] as const
    )
  ])
  const twice = switches.find(([name], index) => switches.findIndex(([other]) => other === name) !== index)
  if (twice !== undefined) throw new Error(`two modules, or parts of them, are called ${twice[0]}`)
  const sections = modules.flatMap(({ name, settings }) => (settings ? [[name, settings]] : []))
  return section(ABOUT, {
    ...BaseSchema.properties,
    modules: section(
      'Which modules run. A disabled module answers 503 on all of its paths.',
      Object.fromEntries(switches)
    ),
    ...Object.fromEntries(sections)
  })
}

/** What the platform, the gateway and every module may know of the configuration. */
export type Config = SettingsOf<typeof BaseSchema> & {
  readonly modules: Readonly<Record<string, { readonly enabled: boolean }>>
}
/** The whole of it: the settings of these modules stand under their names. */
export type ConfigOf<M extends Configurable> = Config & {
  readonly [X in M as X['name']]: SettingsOf<NonNullable<X['settings']>>
}

const SHORT_NAMES: Readonly<Record<string, string>> = {
  PORT: 'server.port',
  HOST: 'server.host',
  DATABASE_URL: 'database.url',
  REDIS_URL: 'cache.url',
  NODE_ENV: 'environment',
  CARTWRIGHT_DATA: 'data'
}

/** The short names that hosting platforms and habits expect, and the keys they stand for. */
export const shortNames = (modules: readonly Configurable[]): Readonly<Record<string, string>> => ({
  ...SHORT_NAMES,
  ...Object.fromEntries(
    modules.flatMap(({ name, shortNames: own = {} }) =>
      Object.entries(own).map(([variable, key]) => [variable, `${name}.${key}`])
    )
  )
})
