import { isIP } from 'node:net'
import { isTimeZone } from './kernel/days.ts'
import type { SettingProblem } from './kernel/settings.ts'
import { HTTP_URL_MESSAGE, isHttpUrl } from './kernel/urls.ts'
import type { Config } from './platform/core-settings.ts'
import {
  isSupportedDatabaseUrl,
  parseDatabaseUrl,
  WRITABLE_SESSION_ATTRIBUTES
} from './platform/postgres/database-url.ts'
import { findSecretKeyProblems } from './platform/secrets/secrets.ts'

const ESCAPES = 'in user and password, write # / ? @ : as %23 %2F %3F %40 %3A'
const DATABASE_URL_MESSAGE =
  'must look like postgres://user:password@host:5432/database, or with several hosts host1:5432,host2:5432; ' +
  `target_session_attrs must be read-write, primary or left out; ${ESCAPES}`
const CONNECTION_URLS: Readonly<Record<string, { scheme: RegExp; example: string }>> = {
  'cache.url': { scheme: /^rediss?:$/, example: 'redis://user:password@host:6379/0' }
}
// The last label of a host name is never a number, so 999.1.1.1 is an invalid address and no name.
const HOST =
  /^(?=.{1,253}$)(?:[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?\.)*(?!\d+$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/i

/** Checks values beyond their schema, such as URLs. Ignores values of the wrong type, because the schema reports those. */
export function findCoreSettingValueProblems(tree: Readonly<Record<string, unknown>>): SettingProblem[] {
  const valueAt = (key: string): unknown => {
    const [section = '', name = ''] = key.split('.')
    return (tree[section] as Record<string, unknown> | undefined)?.[name]
  }
  const check = (key: string, message: string, isRight: (text: string) => boolean): SettingProblem[] => {
    const value = valueAt(key)
    return typeof value !== 'string' || isRight(value) ? [] : [{ key, message }]
  }
  const peers = valueAt('server.development_peers')
  return [
    ...Object.entries(CONNECTION_URLS).flatMap(([key, { scheme, example }]) =>
      check(key, `must look like ${example}; ${ESCAPES}`, text => text === '' || isUrlOf(scheme, text))
    ),
    ...['database.url', 'database.listen_url', 'database.replica_url'].flatMap(key =>
      check(key, DATABASE_URL_MESSAGE, text => text === '' || isSupportedDatabaseUrl(text))
    ),
    ...check(
      'server.public_url',
      HTTP_URL_MESSAGE,
      text => text === '' || (isHttpUrl(text) && URL.parse(text)?.hash === '')
    ),
    ...check('tracing.url', HTTP_URL_MESSAGE, text => text === '' || isHttpUrl(text)),
    ...check(
      'server.host',
      'must be an IP address or the name of a host, such as 0.0.0.0; the port belongs in server.port',
      text => text === '' || isIP(text) !== 0 || HOST.test(text)
    ),
    ...check('shop.time_zone', 'must be the name of a time zone, such as Europe/Berlin', isTimeZone),
    ...(Array.isArray(peers) ? peers : []).flatMap((peer, index) =>
      isNetwork(String(peer))
        ? []
        : [{ key: `server.development_peers.${index}`, message: 'must be an IP address or network' }]
    )
  ]
}

/** Returns why settings that are valid separately cannot be used together. */
export function findSettingContradictions({
  environment,
  server,
  database,
  secrets,
  shop,
  tracing
}: Config): SettingProblem[] {
  const { port, diagnostics_port, private_metrics } = server
  const isProduction = environment === 'production'
  return [
    ...findSecretKeyProblems(secrets.keys, { isProduction, databaseUrl: database.url }).map(problem => ({
      ...problem,
      key: `secrets.${problem.key}`
    })),
    ...(diagnostics_port !== 0 && diagnostics_port === port
      ? [{ key: 'server.diagnostics_port', message: `must not be server.port, which is ${port} as well` }]
      : []),
    ...(private_metrics && diagnostics_port === 0
      ? [
          {
            key: 'server.private_metrics',
            message:
              'needs server.diagnostics_port, which then serves the metrics; set it, or set this to false'
          }
        ]
      : []),
    ...(database.read_only ? findReadOnlyContradictions(database, shop.demo) : []),
    ...(tracing.metrics_seconds > 0 && tracing.url === ''
      ? [
          {
            key: 'tracing.metrics_seconds',
            message: 'needs tracing.url, where the metrics are sent; set it, or set this to 0'
          }
        ]
      : [])
  ]
}

function findReadOnlyContradictions(
  { url, listen_url, replica_url }: Config['database'],
  demo: string
): SettingProblem[] {
  const problem = (name: string, message: string) => ({
    key: name,
    message: `${message} with database.read_only`
  })
  const attributes = parseDatabaseUrl(url)?.attributes ?? ''
  return [
    ...(url === '' ? [problem('database.url', 'must be set')] : []),
    ...(WRITABLE_SESSION_ATTRIBUTES.includes(attributes)
      ? [problem('database.url', `must not require a primary (target_session_attrs=${attributes})`)]
      : []),
    ...(listen_url === '' ? [] : [problem('database.listen_url', 'must be empty, because nothing listens,')]),
    ...(replica_url === ''
      ? []
      : [problem('database.replica_url', 'must be empty; let database.url name the standby')]),
    ...(demo === 'on' ? [problem('shop.demo', 'must not be on, because nothing can be created')] : [])
  ]
}

function isUrlOf(scheme: RegExp, text: string): boolean {
  const url = URL.parse(text)
  return url !== null && scheme.test(url.protocol) && url.hash === ''
}

function isNetwork(text: string): boolean {
  const [address = '', bits] = text.split('/')
  const family = isIP(address)
  return family !== 0 && (bits === undefined || Number(bits) <= (family === 4 ? 32 : 128))
}
