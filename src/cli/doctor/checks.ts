import { accessSync, constants, existsSync, readdirSync, statfsSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import pg from 'pg'
import type { Config } from '../../config.ts'
import { type Diagnosis, type Finding, ok, warning, wrong } from '../../kernel/diagnosis.ts'
import { type Module, migrationSources } from '../../module.ts'
import { openLog } from '../../platform/log.ts'
import { OPEN_FILES_ADVICE, openFilesLimit, openFilesShortage } from '../../platform/open-files.ts'
import { CONNECTIONS_ADVICE, connectionsMaxOf, openCache, openFilesOf } from '../../platform/platform.ts'
import {
  type ConnectionLimits,
  connectionShortage,
  findConnectionLimits
} from '../../platform/postgres/connection-limits.ts'
import { migrationStatus } from '../../platform/postgres/migrate.ts'
import { openSecrets } from '../../platform/secrets/open.ts'

const MEBIBYTE = 1_048_576
const FREE_BYTES_MIN = 512 * MEBIBYTE
const CLOCK_MS_MAX = 5_000
const CACHE_MS_MAX = 3_000
const CACHE_POLL_MS = 50

/** What can be said without the database. */
export const localChecks = (config: Config): readonly Diagnosis[] => [
  { about: 'secrets', find: () => checkSecrets(config) },
  ...(config.database.url === '' ? [{ about: 'data folder', find: () => checkFolder(config.data) }] : []),
  { about: 'open files', find: () => judgeOpenFiles(config, openFilesLimit()) },
  { about: 'proxy', find: () => checkProxy(config) },
  { about: 'demo', find: () => checkDemo(config) },
  { about: 'cache', find: () => checkCache(config) }
]

/** Whether the first start is still to come, which makes all that is in the folder. */
export function isNew({ database, data }: Config): boolean {
  if (database.url !== '') return false
  try {
    return readdirSync(data).length === 0
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}

function checkSecrets(config: Config): Finding {
  if (isNew(config) && config.secrets.keys.length === 0)
    return ok(`the first start makes a file in ${config.data}`)
  openSecrets(config)
  return ok(
    config.secrets.keys.length > 0
      ? 'of the configuration'
      : `a file in ${config.data}: keep it with your backups`
  )
}

function checkFolder(folder: string): Finding {
  if (!existsSync(folder)) {
    accessSync(parentOf(folder), constants.W_OK)
    return ok(`${folder} is not there yet; the first start makes it`)
  }
  accessSync(folder, constants.R_OK | constants.W_OK)
  const { bavail, bsize } = statfsSync(folder)
  return judgeRoom(folder, bavail * bsize)
}

/** The nearest folder around it that there is. */
function parentOf(folder: string): string {
  const parent = dirname(resolve(folder))
  return existsSync(parent) ? parent : parentOf(parent)
}

export function judgeRoom(folder: string, free: number): Finding {
  const mebibytes = `${Math.floor(free / MEBIBYTE)} MiB are free where ${folder} lies`
  if (free === 0)
    return wrong(`the disk is full: ${mebibytes}`, 'Make room: until then nothing can be written.')
  if (free < FREE_BYTES_MIN) return warning(mebibytes, 'Make room before the disk is full.')
  return ok(mebibytes)
}

export function judgeOpenFiles(config: Config, limit: number | undefined): Finding {
  const shortage = openFilesShortage(openFilesOf(config), limit)
  if (shortage !== undefined) return warning(shortage, OPEN_FILES_ADVICE)
  return ok(limit === undefined ? 'no limit is known' : `${limit} at most`)
}

/** Whoever ends TLS stands in front, and the shop sees the address of that one alone. */
function checkProxy({ environment, server }: Config): Finding {
  const isBehind = server.public_url.startsWith('https:')
  if (isBehind && !server.trust_proxy)
    return warning(
      'server.public_url is https, so a proxy stands in front, and its X-Forwarded-For is not trusted: all shoppers have one address, and share its limits',
      'Set server.trust_proxy: true where exactly one proxy sets that header.'
    )
  if (!isBehind && server.trust_proxy && environment === 'production')
    return warning(
      'X-Forwarded-For is trusted, and server.public_url does not say that a proxy stands in front: without one anybody chooses an address',
      'Set server.public_url to the address of the proxy, or server.trust_proxy: false.'
    )
  return ok(server.trust_proxy ? 'trusted' : 'none')
}

const checkDemo = ({ environment, shop }: Config): Finding =>
  environment === 'production' && shop.demo === 'on'
    ? warning('the demo is loaded into an empty catalog, in production', 'Set shop.demo: off.')
    : ok(shop.demo)

async function checkCache(config: Config): Promise<Finding> {
  if (config.cache.url === '') return ok('in each process')
  const cache = await openCache(config, openLog({ level: 'silent' }))
  const until = Date.now() + CACHE_MS_MAX
  try {
    for (;;) {
      if ((await cache.ping()) === 'UP') return ok('answers')
      if (Date.now() > until)
        return wrong(
          `gives no answer within ${CACHE_MS_MAX / 1_000} s: each process caches in its own memory, and /readyz says redis: DOWN`,
          'See that REDIS_URL (cache.url) is right, and that the server runs and has a password that fits.'
        )
      await new Promise(resolve => setTimeout(resolve, CACHE_POLL_MS))
    }
  } finally {
    await cache.close()
  }
}

/** What is asked of the database itself. */
export const databaseChecks = (
  config: Config,
  databaseUrl: string,
  modules: readonly Module[]
): readonly Diagnosis[] => {
  const ask = async (sql: string): Promise<Record<string, unknown>> => {
    const client = new pg.Client({ connectionString: databaseUrl, application_name: 'cartwright doctor' })
    client.on('error', () => {})
    await client.connect()
    try {
      return (await client.query(sql)).rows[0] ?? {}
    } finally {
      await client.end()
    }
  }
  return [
    {
      about: 'server',
      find: async () => {
        const limits = (await ask(findConnectionLimits.text)) as ConnectionLimits
        return judgeServer((await ask(VERSION)).version, limits, config)
      }
    },
    { about: 'writing', find: async () => judgeWriting(await ask(READ_ONLY)) },
    { about: 'schema', find: () => checkSchema(databaseUrl, modules) },
    {
      about: 'clock',
      find: async () => {
        const { time } = await ask('select extract(epoch from clock_timestamp())::float8 * 1000 as time')
        return judgeClock(Date.now() - Number(time))
      }
    }
  ]
}

const VERSION = `select current_setting('server_version') as version`
const READ_ONLY = `
  select pg_is_in_recovery() as is_replica, current_setting('transaction_read_only') = 'on' as is_read_only`

function judgeServer(version: unknown, limits: ConnectionLimits, config: Config): Finding {
  const wanted = connectionsMaxOf(config)
  const shortage = connectionShortage(wanted, limits)
  if (shortage === undefined)
    return ok(
      `PostgreSQL ${version}, ${limits.server} connections, of which each process opens up to ${wanted}`
    )
  return wrong(shortage, CONNECTIONS_ADVICE)
}

function judgeWriting({ is_replica, is_read_only }: Record<string, unknown>): Finding {
  if (is_replica === true)
    return wrong('the server is a replica, which only reads', 'Let DATABASE_URL name the primary.')
  if (is_read_only === true)
    return wrong(
      'transactions are read-only (default_transaction_read_only)',
      'Somebody set that for the server, the database or the user: alter ... reset default_transaction_read_only.'
    )
  return ok('can be done')
}

const migrations = ({ length }: readonly unknown[]) => `${length} migration${length === 1 ? '' : 's'}`

async function checkSchema(databaseUrl: string, modules: readonly Module[]): Promise<Finding> {
  const { applied, pending } = await migrationStatus(databaseUrl, migrationSources(modules))
  if (pending.length === 0) return ok(`up to date, ${migrations(applied)}`)
  return warning(
    applied.length === 0
      ? 'empty: nothing is there yet'
      : `older than this program: ${migrations(pending)} to come`,
    'The next start brings it up to date; "migrate --dry-run" lists what it does.'
  )
}

/** Tokens, sessions and payments go by the clock; `aheadMs`: how far this machine's is ahead of the database's. */
export function judgeClock(aheadMs: number): Finding {
  const seconds = Math.round(Math.abs(aheadMs) / 1_000)
  if (Math.abs(aheadMs) <= CLOCK_MS_MAX) return ok('agrees with that of the database')
  return wrong(
    `this machine is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the database`,
    'Let both set their clocks by the network (NTP): tokens and callbacks are judged by them.'
  )
}
