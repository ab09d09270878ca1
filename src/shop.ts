import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type App, openGateway, setupShop } from './app.ts'
import { type OpenedDatabase, openConfiguredDatabase } from './cli/database.ts'
import { checkCurrency, type Prepared, prepareShop } from './cli/first-start.ts'
import { type Config, type ConfigOf, loadConfig } from './config.ts'
import { DomainError, OperatorError } from './kernel/errors.ts'
import { type ApiOf, type Module, migrationSources } from './module.ts'
import { openLog } from './platform/log.ts'
import { openPlatform } from './platform/platform.ts'
import { DatabaseUnreachable } from './platform/postgres/connect.ts'
import { migrate } from './platform/postgres/migrate.ts'

/** As long as load balancers usually take to notice that `/readyz` answers 503. */
const PRODUCTION_DRAIN_SECONDS = 5
const FINISH_TIMEOUT_MS = 20_000
/** How often a start begins again when the database goes away meanwhile, and how long it waits before. */
const START_TRIES_MAX = 5
const START_PAUSE_MS = 1_000
/** So many new connections may wait for us in the kernel. Beyond Node's 511, a burst of them would be turned away. */
const BACKLOG = 4_096

type Some<T> = T extends readonly unknown[]
  ? T
  : T extends object
    ? { readonly [K in keyof T]?: Some<T[K]> }
    : T

/** What a shop is made of. */
export type ShopOptions<M extends Module = Module> = {
  /** All modules of the shop: `[...standardModules, wishlistModule]`. */
  readonly modules: readonly M[]
  /** What `config.yaml` would hold, in its place. Without it, that file is read if it is there. */
  readonly config?: Some<ConfigOf<M>>
  /** The variables that are put over it: those of the process when left out, `{}` for none. */
  readonly environment?: Readonly<Record<string, string | undefined>>
}

/** A shop that can be started. */
export type Shop<M extends Module = Module> = {
  /** The configuration as it counts: checked, with every default. */
  readonly config: ConfigOf<M>
  /** Opens the database, migrates it, sets the modules up and listens. @throws OperatorError when it cannot. */
  start(): Promise<RunningShop>
}

/** A shop that listens. */
export type RunningShop = {
  /** Where it listens, such as `http://127.0.0.1:8080`. */
  readonly address: string
  /** The administrator that was made just now, with the password, which is shown this once; `null` when there was one. */
  readonly admin: { readonly email: string; readonly password: string } | null
  /** The API of a module; `undefined` when it is disabled. */
  readonly apiOf: ApiOf
  /** Finishes what is under way, 20 seconds at most, and closes everything that `start` opened. */
  stop(): Promise<void>
}

/**
 * A shop with these modules, for programs and tests that start and stop it themselves. A process that does nothing
 * else takes `runCli`, which also heeds signals and errors that nobody caught.
 * @throws OperatorError that lists everything that is wrong with the configuration.
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

/** A shop that does not listen yet. */
type OpenedShop = {
  app: App
  drainMs: number
  /** Listens, and then fills an empty shop: requests are answered before this is over, and `/readyz` says 503 until then. */
  begin(): Promise<{ address: string; prepared: Prepared }>
  /** Closes everything in order, once what has `begun` is over. */
  stop(begun?: Promise<unknown>): Promise<void>
}

/**
 * Opens everything a shop needs, in order; what was opened is closed again when something cannot be. Begins again when the
 * database goes away meanwhile. @throws OperatorError when that happens too often.
 */
export async function openShop(
  modules: readonly Module[],
  config: Config,
  opening?: Promise<OpenedDatabase>
): Promise<OpenedShop> {
  let wasReached = false
  const onReached = () => {
    wasReached = true
  }
  let database = opening ?? openConfiguredDatabase(config, 'own')
  for (let tries = 1; ; tries += 1) {
    try {
      return await openOnce(modules, config, { opening: database, onReached })
    } catch (error) {
      const isGone = isDatabaseGone(error) || (wasReached && error instanceof DatabaseUnreachable)
      if (!isGone || tries === START_TRIES_MAX) throw withoutStack(error)
    }
    await delay(START_PAUSE_MS)
    database = openConfiguredDatabase(config, 'own')
  }
}

const isDatabaseGone = (error: unknown): error is DomainError =>
  error instanceof DomainError && error.kind === 'unavailable'

const withoutStack = (error: unknown): unknown => {
  if (!isDatabaseGone(error)) return error
  const reason = error.cause instanceof Error ? error.cause.message : error.message
  return new OperatorError(
    `The database went away while the shop started: ${reason}. Check that it runs, and start again.`,
    { cause: error }
  )
}

async function openOnce(
  modules: readonly Module[],
  config: Config,
  { opening, onReached }: { opening: Promise<OpenedDatabase>; onReached(): void }
): Promise<OpenedShop> {
  const database = await opening
  /** What closes all that was opened, the latest first. */
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
    // Its connections are made while the migrations are looked at.
    const opened = openPlatform(config, database.url, openLog(config.log), { serves: true })
    closers.unshift(() =>
      opened.then(
        platform => platform.close(),
        () => {}
      )
    )
    opened.catch(() => {})
    await migrate(database.url, migrationSources(modules), database.migrations)
    onReached()
    const platform = await opened
    // Whoever asks first whether the shop is ready finds the connections for it, made while the code below runs.
    for (const probe of [platform.db.ping, platform.db.proveWrite]) probe().catch(() => {})
    const shop = await setupShop(platform, modules)
    closers.unshift(() => platform.outbox.stop(), shop.stop)
    const checking = checkCurrency(shop, config.shop.currency)
    checking.catch(() => {})
    const app = await openGateway(shop)
    closers.unshift(async () => {
      await Promise.race([app.app.close(), delay(FINISH_TIMEOUT_MS, undefined, { ref: false })])
    })
    await checking
    app.hold(true)
    const begin = async () => {
      try {
        // The pictures of the demo have their address, which may be any free port.
        const address = await listen(app.app, config)
        platform.outbox.start()
        const prepared = await prepareShop(app, config, { address, isEmbedded: database.embedded })
        app.hold(false)
        return { address, prepared }
      } catch (error) {
        await close()
        throw withoutStack(error)
      }
    }
    const drainMs = drainSecondsOf(config) * 1_000
    const stop = async (begun: Promise<unknown> = Promise.resolve()) => {
      app.drain()
      await delay(drainMs)
      await begun.catch(() => {})
      await close()
    }
    return { app, drainMs, begin, stop }
  } catch (error) {
    await close()
    throw error
  }
}

function drainSecondsOf({ environment, server }: Config): number {
  return server.drain_seconds ?? (environment === 'production' ? PRODUCTION_DRAIN_SECONDS : 0)
}

async function listen(server: App['app'], config: Config): Promise<string> {
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
