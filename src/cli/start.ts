import { loadConfig } from '../config.ts'
import type { Module } from '../module.ts'
import { openEmbeddedDatabaseEarly, type RunningDatabase, readMigrationsEarly } from './database.ts'
import { loadShopCode, tuneGarbageCollection } from './shop-process.ts'
import { createStopOnce, FORCED_EXIT_MS, onStopSignal } from './stop-signal.ts'

/**
 * Runs the shop until a stop signal. Exits with code 0 when all requests in progress have finished. With several `workers`
 * this process starts them; each worker runs this function, too.
 */
export async function startShop(loadModules: () => Promise<readonly Module[]>, workers = 1): Promise<void> {
  if (workers === 1) return startSingleProcess(loadModules)
  const { default: cluster } = await import('node:cluster')
  if (cluster.isWorker) await (await import('./workers/worker.ts')).startWorker(loadModules)
  else await (await import('./workers/primary.ts')).startWorkers(workers)
}

async function startSingleProcess(loadModules: () => Promise<readonly Module[]>): Promise<void> {
  const early = openEmbeddedDatabaseEarly()
  const opening = early && readMigrationsEarly(early)
  opening?.catch(() => {})
  const { openShop } = await loadShopCode()
  const modules = await loadModules()
  const { formatWelcome } = await import('./first-start.ts')

  const config = await configure(modules, opening)
  const { app, drainMs, begin, stop } = await openShop(modules, config, { opening })
  const printWelcome = async () => {
    const { address, prepared } = await begin()
    process.stdout.write(await formatWelcome(app, prepared, config, address))
  }
  const say = (line: string) => config.log.level !== 'silent' && process.stdout.write(`${line}\n`)
  // Not awaited yet, because requests and signals can arrive before the greeting is printed.
  const begun = printWelcome()
  const stopOnce = createStopOnce({ msMax: () => drainMs + FORCED_EXIT_MS, say }, () => stop(begun))
  onStopSignal(stopOnce)
  process.on(
    'uncaughtException',
    app.onUncaught(() => stopOnce(1))
  )
  await begun
  tuneGarbageCollection()
}

/** Loads the configuration. When it is invalid, stops the database that was opened early, and rejects. */
async function configure(modules: readonly Module[], opening: Promise<RunningDatabase> | undefined) {
  try {
    return loadConfig(modules)
  } catch (error) {
    await opening?.then(database => database.stop()).catch(() => {})
    throw error
  }
}
