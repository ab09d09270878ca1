import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { openGatewayForShopModules, type ShopWithGateway, setUpShopModules } from './app.ts'
import { openConfiguredDatabase, type RunningDatabase } from './cli/database.ts'
import {
  checkCatalogCurrency,
  createDemoAndFirstAdministrator,
  type FirstStartResult
} from './cli/first-start.ts'
import { type Config, type ConfigOfModules, loadConfig } from './config.ts'
import { DomainError, OperatorError } from './kernel/errors.ts'
import { type GetModuleApi, type Module, migrationSources } from './module.ts'
import { openLog } from './platform/log.ts'
import { databaseHostsOf, openPlatform } from './platform/platform.ts'
import { DatabaseLostError, DatabaseUnreachableError } from './platform/postgres/connect.ts'
import { databaseReadOnlyError } from './platform/postgres/errors.ts'
import { migrate, readAppliedMigrations, requireMigrated } from './platform/postgres/migrate.ts'
import type { WorkerLink } from './platform/worker-link.ts'

/** The time that load balancers usually need to notice that `/readyz` responds with 503. */
const PRODUCTION_DRAIN_SECONDS = 5
/** A replaced process keeps idle connections for this time, so that clients with short pauses see `Connection: close`. */
const REPLACED_DRAIN_MS_MIN = 2_000
const FINISH_TIMEOUT_MS = 20_000
/** Number of attempts to start while the database is unavailable, and the pause between them. */
const START_TRIES_MAX = 5
const START_PAUSE_MS = 1_000
/** Connections that may wait in the kernel's accept queue. Node's default of 511 would reject some of a burst. */
const BACKLOG = 4_096

type Some<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: Some<T[K]> }
    : T

/**
 * The modules, configuration and environment of a shop.
 * @example
 * const options: ShopOptions = { modules: standardModules, config: { shop: { currency: 'EUR' } }, environment: {} }
 */
export type ShopOptions<M extends Module = Module> = {
  /** All modules of the shop: `[...standardModules, wishlistModule]`. */
  readonly modules: readonly M[]
  /** The content of `config.yaml` as an object, instead of the file. Default: the file, if it exists. */
  readonly config?: Some<ConfigOfModules<M>>
  /** Environment variables that override it. Default: those of the process. `{}`: none. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/**
 * A shop that can be started.
 * @example
 * const currencyOf = ({ config }: Shop): string => config.shop.currency
 */
export type Shop<M extends Module = Module> = {
  /** The effective configuration: validated, with every default. */
  readonly config: ConfigOfModules<M>
  /** Opens and migrates the database, sets up the modules and listens. @throws OperatorError when it cannot. */
  start(): Promise<RunningShop>
}

/**
 * A started shop.
 * @example
 * const isReady = async ({ address }: RunningShop) => (await fetch(`${address}/readyz`)).ok
 */
export type RunningShop = {
  /** The URL at which it listens, such as `http://127.0.0.1:8080`. */
  readonly address: string
  /** The administrator that this start created. The password is available only here. `null` when it created none. */
  readonly admin: { readonly email: string; readonly password: string } | null
  /** The API of a module; `undefined` when it is disabled. */
  readonly apiOf: GetModuleApi
  /** Stops the shop: waits at most 20 seconds for requests in progress, then closes everything that `start` opened. */
  stop(): Promise<void>
}

/**
 * Creates a shop with these modules, for programs and tests that start and stop it themselves. A process that does nothing
 * else should use `runCli`, which also handles signals and uncaught errors.
 * @throws OperatorError that lists every problem of the configuration.
 * @example
 * const config = { shop: { currency: 'EUR' } } as const
 * const shop = createShop({ modules: standardModules, config, environment: {} })
 * assert.equal(shop.config.shop.currency, 'EUR')
 */
export function createShop<const M extends Module>({
  modules,
  config: content,
  environment
}: ShopOptions<M>): Shop<M> {
  const config = loadConfig(modules, environment, content)
  return {
    config,
    start: async () => {
      const { app, begin, stop } = await openShop(modules, config)
      const { address, prepared } = await begin()
      return { address, admin: prepared.admin, apiOf: app.apiOf, stop: () => stop() }
    }
  }
}

/** A shop that is set up but does not listen yet. */
type OpenedShop = {
  app: ShopWithGateway
  databaseUrl: string
  drainMs: number
  /** Listens, then prepares an empty shop. Requests are handled meanwhile; `/readyz` responds with 503 until it is done. */
  begin(): Promise<{ address: string; prepared: FirstStartResult }>
  /**
   * Drains, waits for `begun` to settle, and closes everything in reverse order. `isReplaced`: another process listens on the
   * same port. Then this one accepts no more connections, and stays ready for those it has.
   */
  stop(begun?: Promise<unknown>, isReplaced?: boolean): Promise<void>
}

/** How a process opens its shop. */
type Opening = {
  /** The database, when its opening began before the configuration was read. */
  opening?: Promise<RunningDatabase> | undefined
  /** Opens the database. Default: the configured one. */
  open?: () => Promise<RunningDatabase>
  /** The worker that this process is, if it is one of several. */
  worker?: WorkerLink
  /** Whether it prepares an empty shop. Default: true. */
  isFirst?: boolean
}

/**
 * Opens everything that a shop needs. When a step fails, it closes what it opened. Retries when the database becomes
 * unavailable meanwhile. @throws OperatorError when the attempts are used up.
 */
export async function openShop(
  modules: readonly Module[],
  config: Config,
  { opening, open = () => openConfiguredDatabase(config, 'own'), ...part }: Opening = {}
): Promise<OpenedShop> {
  let wasReached = false
  const onReached = () => {
    wasReached = true
  }
  let database = opening ?? open()
  for (let tries = 1; ; tries += 1) {
    try {
      return await openOnce(modules, config, { ...part, opening: database, onReached })
    } catch (error) {
      wasReached ||= error instanceof DatabaseLostError
      const isGone = isDatabaseGone(error) || (wasReached && error instanceof DatabaseUnreachableError)
      if (config.database.read_only && isRefusedWrite(error))
        throw new OperatorError(NEEDS_PRIMARY_FIRST, { cause: error })
      if (!isGone || tries === START_TRIES_MAX) throw withoutStack(error)
    }
    await delay(START_PAUSE_MS)
    database = open()
  }
}

const NEEDS_PRIMARY_FIRST =
  'The database lacks what a start of this version writes, such as the default market. Start this version with the primary first.'

const isRefusedWrite = (error: unknown): boolean =>
  error instanceof DomainError && error.code === databaseReadOnlyError.code

const isDatabaseGone = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.kind === 'unavailable'

const withoutStack = (error: unknown): unknown => {
  if (!isDatabaseGone(error)) return error
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return new OperatorError(
    `The database became unavailable while the shop started: ${reason}. Check that it runs, and start again.`,
    { cause: error }
  )
}

async function openOnce(
  modules: readonly Module[],
  config: Config,
  {
    opening,
    onReached,
    worker,
    isFirst = true
  }: Pick<Opening, 'worker' | 'isFirst'> & { opening: Promise<RunningDatabase>; onReached(): void }
): Promise<OpenedShop> {
  const database = await opening
  /** Closes the opened parts of a shop, the latest first. */
  const closers = [database.stop]
  let closing: Promise<void> | undefined
  const closeAll = async () => {
    for (const each of closers) await each()
  }
  const close = () => {
    closing ??= closeAll()
    return closing
  }
  try {
    // The platform opens its connections while the migrations are checked.
    const log = openLog({ ...config.log, worker: worker?.number })
    const opened = openPlatform(config, database.url, log, { serves: true, worker })
    closers.unshift(() =>
      opened.then(
        platform => platform.close(),
        () => {}
      )
    )
    opened.catch(() => {})
    const applied =
      database.migrations ?? readAppliedMigrations(database.url, databaseHostsOf(config, database.url))
    applied.then(onReached, () => {})
    const { read_only: isReadOnly } = config.database
    await (isReadOnly ? requireMigrated : migrate)(database.url, migrationSources(modules), applied)
    const platform = await opened
    // Opens the connections of readiness checks while the code below runs.
    for (const probe of [platform.db.ping, platform.db.proveWrite]) probe().catch(() => {})
    const shop = await setUpShopModules(platform, modules)
    closers.unshift(() => platform.outbox.stop(), shop.stop)
    const checking = Promise.all([checkCatalogCurrency(shop, config.shop.currency), shop.assertCanStart()])
    checking.catch(() => {})
    const app = await openGatewayForShopModules(shop)
    closers.unshift(async () => {
      await Promise.race([app.app.close(), delay(FINISH_TIMEOUT_MS, undefined, { ref: false })])
    })
    await checking
    app.hold(true)
    const begin = async () => {
      try {
        // Listens before the demo is loaded, because its picture URLs contain the address, whose port may be any free one.
        const address = await listen(app.app, config)
        if (!isReadOnly) {
          platform.outbox.start()
          platform.partitions.start()
        }
        const prepared =
          isFirst && !isReadOnly
            ? await createDemoAndFirstAdministrator(app, config, { address, isEmbedded: database.embedded })
            : { admin: null, demoProducts: 0 }
        app.hold(false)
        return { address, prepared }
      } catch (error) {
        await close()
        throw withoutStack(error)
      }
    }
    const drainMs = drainSecondsOf(config) * 1_000
    const stop = async (begun: Promise<unknown> = Promise.resolve(), isReplaced = false) => {
      if (isReplaced) app.retire()
      else app.drain()
      await delay(isReplaced ? Math.max(drainMs, REPLACED_DRAIN_MS_MIN) : drainMs)
      await begun.catch(() => {})
      await close()
    }
    return { app, databaseUrl: database.url, drainMs, begin, stop }
  } catch (error) {
    await close()
    throw error
  }
}

function drainSecondsOf({ environment, server }: Config): number {
  return server.drain_seconds ?? (environment === 'production' ? PRODUCTION_DRAIN_SECONDS : 0)
}

async function listen(server: ShopWithGateway['app'], config: Config): Promise<string> {
  const { port } = config.server
  const host = config.server.host || (config.environment === 'production' ? '0.0.0.0' : '127.0.0.1')
  try {
    await server.listen({ host, port, backlog: BACKLOG })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const advice = 'Choose another address with HOST and PORT (server.host, server.port).'
    if (code === 'EADDRINUSE')
      throw new OperatorError(`Port ${port} on ${host} is in use by another program. ${advice}`)
    throw new OperatorError(`Cannot listen on ${host}:${port}: ${message}. ${advice}`)
  }
  const bound = server.server.address() as AddressInfo
  return `http://${bound.family === 'IPv6' ? `[${bound.address}]` : bound.address}:${bound.port}`
}
