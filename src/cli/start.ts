import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../app.ts'
import { type Config, loadConfig } from '../config.ts'
import { OperatorError } from '../kernel/errors.ts'
import { openLog } from '../platform/log.ts'
import type { Platform } from '../platform/platform.ts'
import { type OpenedDatabase, openConfiguredDatabase, openDatabaseEarly } from './database.ts'
import { onStopSignal } from './stop-signal.ts'

/** As long as load balancers usually take to notice that `/readyz` answers 503. */
const PRODUCTION_DRAIN_SECONDS = 5
const FINISH_TIMEOUT_MS = 20_000
const FORCED_EXIT_MS = 25_000
/** So many new connections may wait for us in the kernel. Beyond Node's 511, a burst of them would be turned away. */
const BACKLOG = 4_096

/** Runs the shop until a signal asks it to stop: exit code 0 once every request in flight has ended. */
export async function start(): Promise<void> {
  const opening = openDatabaseEarly()
  const { modules, openGateway, setupShop } = await import('../app.ts')
  const { migrationSources } = await import('../module.ts')
  const { migrate } = await import('../platform/postgres/migrate.ts')
  const { openPlatform } = await import('../platform/platform.ts')
  const { checkCurrency, prepareShop, welcome } = await import('./first-start.ts')

  const config = await configure(modules, opening)
  const database = await (opening ?? openConfiguredDatabase(config, 'own'))
  let platform: Platform | undefined
  try {
    await migrate(database.url, migrationSources(modules))
    platform = await openPlatform(config, database.url, openLog(config.log))
    const shop = await setupShop(platform)
    await checkCurrency(shop, config.shop.currency)
    const app = await openGateway(shop)
    // The pictures of the demo have their address, which may be any free port.
    const address = await listen(app.app, config)
    const prepared = await prepareShop(app, config, { address, isEmbedded: database.embedded })

    const say = (line: string) => config.log.level !== 'silent' && process.stdout.write(`${line}\n`)
    const drainMs = drainSecondsOf(config) * 1_000
    const stop = onStopSignal({ msMax: drainMs + FORCED_EXIT_MS, say }, async () => {
      app.drain()
      await delay(drainMs)
      await Promise.race([app.app.close(), delay(FINISH_TIMEOUT_MS, undefined, { ref: false })])
      await app.stop()
      await platform?.close()
      await database.stop()
    })
    process.on(
      'uncaughtException',
      app.onUncaught(() => stop(1))
    )
    process.stdout.write(await welcome(app, prepared, config, address))
  } catch (error) {
    await platform?.close()
    await database.stop()
    throw error
  }
}

function drainSecondsOf({ environment, server }: Config): number {
  return server.drain_seconds ?? (environment === 'production' ? PRODUCTION_DRAIN_SECONDS : 0)
}

/** The configuration, now that it is known what the modules want; when it is wrong, no database is left running. */
async function configure(
  modules: typeof import('../app.ts').modules,
  opening: Promise<OpenedDatabase> | undefined
) {
  try {
    return loadConfig(modules)
  } catch (error) {
    await opening?.then(database => database.stop()).catch(() => {})
    throw error
  }
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
