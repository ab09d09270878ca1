import { currencyDecimalPlaces } from '../kernel/money.ts'
import { patternWithMessage } from '../kernel/patterns.ts'
import { Type } from '../kernel/schema.ts'
import {
  booleanSetting,
  integerSetting,
  type SettingsOf,
  settingsSection,
  textSetting,
  urlWithPasswordSetting
} from '../kernel/settings.ts'
import { DatabaseSettings } from './database-settings.ts'

export const DATA_FOLDER_DEFAULT = '.data'
export const CONFIG_FILE_DESCRIPTION = 'Cartwright reads this file at start; every key is optional.'

/** Scheme, host and port as browsers send them: lower case, without the default port of the scheme. */
const ORIGIN = '^(?!https://.*:443$)(?!http://.*:80$)[a-z][a-z0-9+.-]*://[a-z0-9.:[\\]-]+$'

const ORIGIN_WORDS =
  'must be an origin as browsers send it, such as https://shop.example.com, without path or trailing slash; "*" is not allowed'
const SECRET_KEY = '^(?:[0-9A-Fa-f]{64,512}|[A-Za-z0-9+/_-]{43,512}={0,2})$'
const CLIENT_SECRET = '^[!-~]{32,512}$'

const HOST = '^[a-z0-9_.:-]{1,253}$'
const HOST_WORDS = 'must be the name or address of a host, in lower case and without a port'
const PEER = '^[0-9a-f.:]{2,45}(?:/[0-9]{1,3})?$'
const PEER_WORDS = 'must be an IP address or a network, such as 172.17.0.0/16'
const SecretKey = Type.Object(
  {
    id: Type.String(
      patternWithMessage('^[A-Za-z0-9_-]{1,32}$', 'must be 1 to 32 letters, digits, hyphens and underscores')
    ),
    key: Type.String({
      ...patternWithMessage(
        SECRET_KEY,
        'must be at least 32 random bytes in hexadecimal or base64: openssl rand -hex 32'
      ),
      writeOnly: true
    })
  },
  { additionalProperties: false }
)

/** Settings of kernel, platform and gateway. */
export const CoreSettings = settingsSection(CONFIG_FILE_DESCRIPTION, {
  environment: Type.Enum(['development', 'production'], {
    description:
      'Environment. In production the server listens on every address and creates no demo data and no administrator. NODE_ENV sets it too; `test` means development.',
    default: 'development'
  }),
  data: Type.String({
    description: 'Folder of the embedded database and of files. CARTWRIGHT_DATA sets it too.',
    default: DATA_FOLDER_DEFAULT,
    minLength: 1
  }),
  shop: settingsSection('The shop.', {
    name: textSetting(
      'Name of the shop, shown in mails and pages. Passwords must not contain it.',
      'Cartwright'
    ),
    currency: Type.Enum(Object.keys(currencyDecimalPlaces), {
      description: 'Currency of the base prices (ISO 4217).',
      default: 'USD'
    }),
    time_zone: textSetting('Time zone that days without a time are read in, such as Europe/Berlin.', 'UTC'),
    demo: Type.Enum(['auto', 'on', 'off'], {
      description:
        'Whether demo products are loaded when there are none. `auto`: in development with the embedded database.',
      default: 'auto'
    })
  }),
  server: settingsSection('The HTTP server.', {
    host: textSetting(
      'Address to listen on. Empty: 127.0.0.1 in development, 0.0.0.0 in production. HOST sets it too.',
      ''
    ),
    port: integerSetting('Port to listen on; 0: any free port. PORT sets it too.', 8080, 0, 65_535),
    public_url: textSetting(
      'URL by which clients reach the server. It is the issuer (`iss`) of access tokens; empty: `cartwright`.',
      ''
    ),
    security_contacts: Type.Array(
      Type.String({
        maxLength: 1_000,
        ...patternWithMessage(
          '^(?:mailto:|https://|tel:)\\S+$',
          'must be a URI such as mailto:security@example.com'
        )
      }),
      {
        description:
          'URIs for reporting vulnerabilities, listed in /.well-known/security.txt. Empty: that path answers 404.',
        default: []
      }
    ),
    trust_proxy: booleanSetting(
      "Whether the last address of X-Forwarded-For is the client's address. Enable it only behind exactly one proxy that sets the header.",
      false
    ),
    body_bytes_max: integerSetting(
      'Maximum JSON body, in bytes. Each route has a lower limit that follows from its schema.',
      1_048_576,
      1_024,
      1_048_576
    ),
    body_seconds: integerSetting(
      'Seconds that a request body may take to arrive. Uploaded files may take longer.',
      10,
      1,
      300
    ),
    concurrent_requests_max: integerSetting(
      'Maximum number of requests under /api that are processed simultaneously. The server adapts the actual number to its latency, below this maximum.',
      1_000
    ),
    connections_max: integerSetting(
      'Maximum number of open connections. Above it, the client address with the most connections loses one.',
      10_000,
      10
    ),
    diagnostics_port: integerSetting(
      'Second port for /healthz, /readyz and the metrics. A separate thread serves it, so it responds while the shop is busy. 0: none.',
      0,
      0,
      65_535
    ),
    private_metrics: booleanSetting(
      'Whether /metrics and /metricsz are served on the diagnostics port only. Recommended in production.',
      false
    ),
    docs: Type.Enum(['auto', 'on', 'off'], {
      description: 'Whether /docs and /openapi.json are served. `auto`: in development only.',
      default: 'auto'
    }),
    development_hosts: Type.Array(Type.String(patternWithMessage(HOST, HOST_WORDS)), {
      description:
        'Additional host names that the server accepts in development, such as [shop.test]. localhost, loopback addresses and the host of public_url are always accepted.',
      default: [],
      uniqueItems: true
    }),
    development_peers: Type.Array(Type.String(patternWithMessage(PEER, PEER_WORDS)), {
      description:
        'Additional addresses and networks that may read /mails in development, such as containers: [172.17.0.0/16]. The machine itself always may.',
      default: [],
      uniqueItems: true
    }),
    liveness_seconds: integerSetting(
      'Seconds without any progress of the main thread after which /healthz on the diagnostics port answers 503.',
      30,
      2,
      3_600
    ),
    cors: settingsSection(
      'Cross-origin requests. Not needed when the shop front and the API have the same origin.',
      {
        origins: Type.Array(Type.String(patternWithMessage(ORIGIN, ORIGIN_WORDS)), {
          description:
            'Origins whose pages may call /api from a browser, exactly as browsers send them: [https://shop.example.com].',
          default: [],
          uniqueItems: true
        })
      }
    ),
    trusted_clients: Type.Array(
      Type.String({
        ...patternWithMessage(CLIENT_SECRET, 'must be 32 to 512 visible ASCII characters'),
        writeOnly: true
      }),
      {
        description:
          "Secrets of shop fronts that render on a server, at least 32 characters each (openssl rand -hex 32). A request with one of them in X-Cartwright-Client is rate-limited by the shopper's address in X-Shopper-Address.",
        default: [],
        uniqueItems: true
      }
    ),
    drain_seconds: Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      description:
        'Seconds that the server keeps serving after a stop signal, while /readyz already answers 503. Empty: 5 in production, 0 in development.',
      default: null,
      minimum: 0,
      maximum: 300
    })
  }),
  database: DatabaseSettings,
  secrets: settingsSection('Keys that encrypt and sign data in the database. They are kept outside of it.', {
    keys: Type.Array(SecretKey, {
      description:
        'Keys as { id, key }, each key at least 32 random bytes in base64 or hex (openssl rand -base64 32). The first key signs and encrypts; the others only verify and decrypt, for rotation. Empty: the first start creates a key file in the data folder. Required in production with DATABASE_URL.',
      default: []
    })
  }),
  cache: settingsSection('Cache for product pages and lists. Losing it is harmless.', {
    url: urlWithPasswordSetting(
      'URL of a Redis or Valkey server, which also shares rate limits between processes. Empty: the cache is in the memory of each process. REDIS_URL sets it too.'
    ),
    entries_max: integerSetting('Maximum number of entries in the memory of a process.', 5_000)
  }),
  http: settingsSection('Outgoing HTTP requests.', {
    private_hosts: Type.Array(Type.String(patternWithMessage(HOST, HOST_WORDS)), {
      description:
        'Hosts that may resolve to private addresses, such as [erp.internal]. All other hosts must have public addresses, except those in URLs of this configuration.',
      default: [],
      uniqueItems: true
    })
  }),
  events: settingsSection('The event log, which /api/admin/events/feed returns.', {
    position_wait_seconds: integerSetting(
      'Seconds that an event waits for its position while an earlier transaction with events is open. Then it is ordered before the events of that transaction.',
      1,
      0,
      60
    ),
    retention_days: integerSetting('Days after which the weeks of the event log are deleted.', 90, 7, 3_650)
  }),
  audit: settingsSection('The audit log of what administrators change.', {
    retention_days: integerSetting('Days until a month of the audit log is deleted.', 400, 365, 36_500)
  }),
  tracing: settingsSection('Traces and metrics for OpenTelemetry.', {
    url: textSetting(
      'URL of an OpenTelemetry collector, which gets traces by OTLP over HTTP, and metrics with metrics_seconds: http://collector:4318. Empty: none of them.',
      ''
    ),
    sample_percent: integerSetting(
      'Percentage of the traces that are recorded. A trace that the caller began is recorded if the caller records it.',
      10,
      0,
      100
    ),
    metrics_seconds: integerSetting(
      'Seconds between two exports of the metrics of /metrics to the collector of url. 0: none.',
      0,
      0,
      3_600
    )
  }),
  log: settingsSection('Log lines, as JSON on standard output.', {
    level: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'], {
      description: 'Minimum level of log lines that are written.',
      default: 'info'
    })
  }),
  rate_limit: settingsSection('Rate limits per minute, shared by workers. Diagnostics are never limited.', {
    enabled: booleanSetting('Whether requests are rate-limited.', true),
    public_per_minute: integerSetting(
      'Requests per minute and client address to public routes and pages.',
      1_200
    ),
    secured_per_minute: integerSetting('Requests per minute and user to secured routes.', 1_200),
    admin_per_minute: integerSetting('Requests per minute and user to admin routes.', 2_400),
    provider_requests_per_minute: integerSetting(
      'Parcels, and purchases, per minute and client address for which external services of rates and taxes are asked. Those with a stored answer do not count.',
      60
    )
  })
})

/**
 * The configuration as the platform, the gateway and modules see it: core settings, and which modules run.
 * @example
 * const isProduction = ({ environment }: Config): boolean => environment === 'production'
 */
export type Config = SettingsOf<typeof CoreSettings> & {
  readonly modules: Readonly<Record<string, { readonly enabled: boolean }>>
}
