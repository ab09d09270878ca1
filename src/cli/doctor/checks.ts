import { accessSync, constants, existsSync, readdirSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import {
  type DiagnosisCheck,
  type DiagnosisFinding,
  errorDiagnosisFinding,
  okDiagnosisFinding,
  warningDiagnosisFinding
} from '../../kernel/diagnosis.ts'
import { type Module, migrationSources } from '../../module.ts'
import type { Config } from '../../platform/core-settings.ts'
import { openLog } from '../../platform/log.ts'
import { describeOpenFilesShortage, OPEN_FILES_ADVICE, openFilesLimit } from '../../platform/open-files.ts'
import {
  CONNECTIONS_ADVICE,
  databaseHostsOf,
  databaseOptionsFromConfig,
  openKeyValueCache,
  primaryDatabaseConnectionsMax,
  replicaOf,
  socketsMaxByUse
} from '../../platform/platform.ts'
import { closePgClient } from '../../platform/postgres/clients.ts'
import { createPgClient, openUnpooledPgClient, pgClientConfig } from '../../platform/postgres/connect.ts'
import {
  describeConnectionShortage,
  findConnectionLimits,
  type PostgresServerConnectionLimits
} from '../../platform/postgres/connection-limits.ts'
import { migrationStatus } from '../../platform/postgres/migrate.ts'
import { proveOwnSessions } from '../../platform/postgres/session-proof.ts'
import { loadSecrets } from '../../platform/secrets/open.ts'

const MEBIBYTE = 1_048_576
const FREE_BYTES_MIN = 512 * MEBIBYTE
const CLOCK_MS_MAX = 5_000
const CACHE_MS_MAX = 3_000
const CACHE_POLL_MS = 50
const REPLICA_MS_MAX = 3_000

/** Returns the checks of the installation that need no database. */
export const checksWithoutDatabase = (config: Config): readonly DiagnosisCheck[] => [
  { about: 'secrets', find: () => checkSecrets(config) },
  ...(config.database.url === '' ? [{ about: 'data folder', find: () => checkFolder(config.data) }] : []),
  { about: 'open files', find: () => checkOpenFilesLimit(config, openFilesLimit()) },
  { about: 'proxy', find: () => checkProxy(config) },
  { about: 'demo', find: () => checkDemo(config) },
  { about: 'cache', find: () => checkCache(config) }
]

/** Whether the next start is the first: the embedded database is configured, and the data folder is empty or missing. */
export function isFirstStart({ database, data }: Config): boolean {
  if (database.url !== '') return false
  try {
    return readdirSync(data).length === 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

function checkSecrets(config: Config): DiagnosisFinding {
  if (isFirstStart(config) && config.secrets.keys.length === 0)
    return okDiagnosisFinding(`the first start creates a key file in ${config.data}`)
  loadSecrets(config)
  return okDiagnosisFinding(
    config.secrets.keys.length > 0
      ? 'set in the configuration'
      : `key file in ${config.data}; back it up, apart from the database`
  )
}

function checkFolder(folder: string): DiagnosisFinding {
  if (!existsSync(folder)) {
    accessSync(parentOf(folder), constants.W_OK)
    return okDiagnosisFinding(`${folder} does not exist yet; the first start creates it`)
  }
  accessSync(folder, constants.R_OK | constants.W_OK)
  const { bavail, bsize } = statfsSync(folder)
  return checkDiskSpace(folder, bavail * bsize)
}

/** Returns the nearest parent folder that exists. */
function parentOf(folder: string): string {
  const parent = dirname(resolve(folder))
  return existsSync(parent) ? parent : parentOf(parent)
}

export function checkDiskSpace(folder: string, free: number): DiagnosisFinding {
  const mebibytes = `${Math.floor(free / MEBIBYTE)} MiB free on the disk of ${folder}`
  if (free === 0)
    return errorDiagnosisFinding(
      `the disk is full: ${mebibytes}`,
      'Free disk space. Until then, no writes are possible.'
    )
  if (free < FREE_BYTES_MIN) return warningDiagnosisFinding(mebibytes, 'Free disk space before it runs out.')
  return okDiagnosisFinding(mebibytes)
}

export function checkOpenFilesLimit(config: Config, limit: number | undefined): DiagnosisFinding {
  const shortage = describeOpenFilesShortage(socketsMaxByUse(config), limit)
  if (shortage !== undefined) return warningDiagnosisFinding(shortage, OPEN_FILES_ADVICE)
  return okDiagnosisFinding(limit === undefined ? 'no limit is known' : `${limit} at most`)
}

/** With TLS ended by a proxy, the shop sees only the proxy's address unless it trusts X-Forwarded-For. */
function checkProxy({ environment, server }: Config): DiagnosisFinding {
  const isBehind = server.public_url.startsWith('https:')
  if (isBehind && !server.trust_proxy)
    return warningDiagnosisFinding(
      "server.public_url is https, so a proxy is in front, but X-Forwarded-For is not trusted: all shoppers share the proxy's address and its rate limits",
      'Set server.trust_proxy: true if exactly one proxy sets that header.'
    )
  if (!isBehind && server.trust_proxy && environment === 'production')
    return warningDiagnosisFinding(
      'X-Forwarded-For is trusted, but server.public_url does not show that a proxy is in front: without a proxy, every client can choose its address',
      'Set server.public_url to the address of the proxy, or server.trust_proxy: false.'
    )
  return okDiagnosisFinding(server.trust_proxy ? 'trusted' : 'none')
}

const checkDemo = ({ environment, shop }: Config): DiagnosisFinding =>
  environment === 'production' && shop.demo === 'on'
    ? warningDiagnosisFinding(
        'production loads the demo catalog when there are no products',
        'Set shop.demo: off.'
      )
    : okDiagnosisFinding(shop.demo)

async function checkCache(config: Config): Promise<DiagnosisFinding> {
  if (config.cache.url === '') return okDiagnosisFinding('in each process')
  const cache = await openKeyValueCache(config, openLog({ level: 'silent' }))
  const until = Date.now() + CACHE_MS_MAX
  try {
    for (;;) {
      if ((await cache.ping()) === 'UP') return okDiagnosisFinding('answers')
      if (Date.now() > until)
        return errorDiagnosisFinding(
          `no response within ${CACHE_MS_MAX / 1_000} s: each process caches in its own memory, and /readyz reports redis: DOWN`,
          'Check REDIS_URL (cache.url), its password, and that the server is running.'
        )
      await new Promise(resolve => setTimeout(resolve, CACHE_POLL_MS))
    }
  } finally {
    await cache.close()
  }
}

/** Returns the checks of the installation that need the database. */
export const checksWithDatabase = (
  config: Config,
  databaseUrl: string,
  modules: readonly Module[]
): readonly DiagnosisCheck[] => {
  const ask = async (sql: string): Promise<Record<string, unknown>> => {
    const hosts = databaseHostsOf(config, databaseUrl)
    const client = await openUnpooledPgClient({ hosts, application_name: 'cartwright doctor' })
    try {
      return (await client.query(sql)).rows[0] ?? {}
    } finally {
      await client.end()
    }
  }
  const replica = replicaOf(config)
  return [
    {
      about: 'server',
      find: async () => {
        const limits = (await ask(findConnectionLimits.text)) as PostgresServerConnectionLimits
        return judgeServer((await ask(VERSION)).version, limits, config)
      }
    },
    {
      about: 'sessions',
      find: async () => {
        await proveOwnSessions(pgClientConfig(databaseOptionsFromConfig(config, databaseUrl)))
        return okDiagnosisFinding('each connection has its own')
      }
    },
    ...(config.database.read_only
      ? []
      : [{ about: 'writing', find: async () => judgeWriting(await ask(READ_ONLY)) }]),
    ...(replica === undefined ? [] : [{ about: 'replica', find: () => checkReplica(replica) }]),
    { about: 'schema', find: () => checkSchema(config, databaseUrl, modules) },
    {
      about: 'clock',
      find: async () => {
        const { time } = await ask('select extract(epoch from clock_timestamp())::float8 * 1000 as time')
        return checkDatabaseClock(Date.now() - Number(time))
      }
    }
  ]
}

const VERSION = `select current_setting('server_version') as version`
const READ_ONLY = `
  select pg_is_in_recovery() as is_replica, current_setting('transaction_read_only') = 'on' as is_read_only`

function judgeServer(
  version: unknown,
  limits: PostgresServerConnectionLimits,
  config: Config
): DiagnosisFinding {
  const wanted = primaryDatabaseConnectionsMax(config)
  const shortage = describeConnectionShortage(wanted, limits)
  if (shortage === undefined)
    return okDiagnosisFinding(
      `PostgreSQL ${version}, ${limits.server} connections; each process opens up to ${wanted}`
    )
  return errorDiagnosisFinding(shortage, CONNECTIONS_ADVICE)
}

function judgeWriting({ is_replica, is_read_only }: Record<string, unknown>): DiagnosisFinding {
  if (is_replica === true)
    return errorDiagnosisFinding('the server is a read-only replica', 'Set DATABASE_URL to the primary.')
  if (is_read_only === true)
    return errorDiagnosisFinding(
      'transactions are read-only (default_transaction_read_only)',
      'It is set for the server, the database or the user. Run: alter ... reset default_transaction_read_only.'
    )
  return okDiagnosisFinding('possible')
}

/** Whether slow reads can use the replica. Without it the primary answers them, so no problem of it is an error. */
async function checkReplica({ hosts }: NonNullable<ReturnType<typeof replicaOf>>): Promise<DiagnosisFinding> {
  const client = createPgClient({
    hosts,
    session: {},
    connectionTimeoutMillis: REPLICA_MS_MAX,
    application_name: 'cartwright doctor'
  })
  try {
    await client.connect()
    const { rows } = await client.query(READ_ONLY)
    if (rows[0]?.is_replica === true) return okDiagnosisFinding('a standby, which answers slow reads')
    return warningDiagnosisFinding(
      'the server is not a standby, so the primary answers slow reads',
      'Set database.replica_url to a streaming standby of the primary.'
    )
  } catch (error) {
    return warningDiagnosisFinding(
      `cannot be used, so the primary answers slow reads: ${(error as Error).message}`,
      'Check database.replica_url, and that the standby runs.'
    )
  } finally {
    await closePgClient(client)
  }
}

const migrations = ({ length }: readonly unknown[]) => `${length} migration${length === 1 ? '' : 's'}`

async function checkSchema(
  config: Config,
  databaseUrl: string,
  modules: readonly Module[]
): Promise<DiagnosisFinding> {
  const hosts = databaseHostsOf(config, databaseUrl)
  const { applied, pending } = await migrationStatus(databaseUrl, migrationSources(modules), hosts)
  if (pending.length === 0) return okDiagnosisFinding(`up to date, ${migrations(applied)}`)
  return warningDiagnosisFinding(
    applied.length === 0 ? 'empty' : `older than this program: ${migrations(pending)} pending`,
    'The next start applies them. "migrate --dry-run" lists them.'
  )
}

/** Checks the clocks. `aheadMs`: this machine's clock minus the database's. Tokens, sessions and payments depend on it. */
export function checkDatabaseClock(aheadMs: number): DiagnosisFinding {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  if (Math.abs(aheadMs) <= CLOCK_MS_MAX) return okDiagnosisFinding('in sync with the database')
  return errorDiagnosisFinding(
    `this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database`,
    'Synchronize both clocks by NTP, because tokens and callbacks depend on the time.'
  )
}
