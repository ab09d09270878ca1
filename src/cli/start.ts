import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { App } from '../app.ts'
import { type Config, loadConfig } from '../config.ts'
import { OperatorError } from '../kernel/errors.ts'
import { openLog } from '../platform/log.ts'
import type { Platform } from '../platform/platform.ts'
import { openConfiguredDatabase } from './database.ts'

const FINISH_TIMEOUT_MS = 20_000
const FORCED_EXIT_MS = 25_000

/** Runs the shop until a signal asks it to stop: exit code 0 once every request in flight has ended. */
export async function start(): Promise<void> {
  const config = loadConfig()
  // The database starts while the code that will use it is loaded.
  const opening = openConfiguredDatabase(config, 'own')
  opening.catch(() => {})
  const { createApp, modules } = await import('../app.ts')
  const { migrationSources } = await import('../module.ts')
  const { migrate } = await import('../platform/migrate.ts')
  const { openPlatform } = await import('../platform/platform.ts')
  const { credentials, prepareShop, welcome } = await import('./first-start.ts')

  const database = await opening
  let platform: Platform | undefined
  try {
    await migrate(database.url, migrationSources(modules))
    platform = await openPlatform(config, database.url, openLog(config.log))
    const app = await createApp(platform)
    const prepared = await prepareShop(app, config, database.embedded)
    const address = await listen(app.app, config).catch(error => {
      process.stdout.write(credentials(prepared))
      throw error
    })

    const drainMs = config.server.drain_seconds * 1_000
    onStopSignal(drainMs + FORCED_EXIT_MS, async () => {
      app.drain()
      await delay(drainMs)
      await Promise.race([app.app.close(), delay(FINISH_TIMEOUT_MS, undefined, { ref: false })])
      await app.stop()
      await platform?.close()
      await database.stop()
    })
    process.stdout.write(await welcome(app, prepared, config, address))
  } catch (error) {
    await platform?.close()
    await database.stop()
    throw error
  }
}

async function listen(server: App['app'], config: Config): Promise<string> {
  const { port } = config.server
  const host = config.server.host || (config.environment === 'production' ? '0.0.0.0' : '127.0.0.1')
  try {
    await server.listen({ host, port })
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

/** The first SIGTERM or SIGINT stops in order; a second one, or `msMax`, ends the process with exit code 1. */
function onStopSignal(msMax: number, stop: () => Promise<void>): void {
  let stopping = false
  const handle = () => {
    if (stopping) process.exit(1)
    stopping = true
    setTimeout(() => process.exit(1), msMax).unref()
    stop().then(
      () => process.exit(0),
      error => {
        process.stderr.write(`${error instanceof Error ? error.stack : error}\n`)
        process.exit(1)
      }
    )
  }
  process.on('SIGTERM', handle)
  process.on('SIGINT', handle)
}
