import { flushCompileCache } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { loadConfig } from '../config.ts'
import type { Module } from '../module.ts'
import { openEmbeddedDatabaseEarly, type RunningDatabase } from './database.ts'
import { onStopSignal } from './stop-signal.ts'

const FORCED_EXIT_MS = 25_000

/**
 * Loading code blocks the event loop, so it is loaded in parts. Between them the start of the database makes progress.
 * Its process becomes ready, a connection opens, and the migrations are read.
 */
const PARTS = [
  () => import('../platform/platform.ts'),
  () => import('../gateway/server.ts'),
  () => import('../modules/auth/index.ts'),
  () => import('../modules/pricing/index.ts'),
  () => import('../modules/inventory/index.ts'),
  () => import('../modules/payments/index.ts'),
  () => import('../modules/catalog/index.ts'),
  () => import('../modules/shipping/index.ts'),
  () => import('../modules/cart/index.ts'),
  () => import('../modules/orders/index.ts'),
  () => import('../shop.ts')
]

/** Runs the shop until a stop signal. Exits with code 0 when all requests in progress have finished. */
export async function startShop(loadModules: () => Promise<readonly Module[]>): Promise<void> {
  const opening = openEmbeddedDatabaseEarly()
  for (const load of PARTS) {
    await nextTurn()
    await load()
  }
  await nextTurn()
  const modules = await loadModules()
  const { openShop } = await import('../shop.ts')
  const { formatWelcome } = await import('./first-start.ts')

  const config = await configure(modules, opening)
  const { app, drainMs, begin, stop } = await openShop(modules, config, opening)
  const printWelcome = async () => {
    const { address, prepared } = await begin()
    process.stdout.write(await formatWelcome(app, prepared, config, address))
  }
  const say = (line: string) => config.log.level !== 'silent' && process.stdout.write(`${line}\n`)
  // Not awaited yet, because requests and signals can arrive before the greeting is printed.
  const begun = printWelcome()
  const stopOnce = onStopSignal({ msMax: drainMs + FORCED_EXIT_MS, say }, () => stop(begun))
  process.on(
    'uncaughtException',
    app.onUncaught(() => stopOnce(1))
  )
  await begun
  keepGarbageYoung()
}

/**
 * Turns off pretenuring: V8 allocates objects in the old generation when earlier ones from the same place survived young
 * collections. A burst of connections was enough to cause it. From then on each request left garbage in the old generation,
 * and a rejection took 45 us instead of 32 (2026-11). Runs after the start and flushes the compile cache first, because Node
 * does not reuse code that was compiled under other flags.
 */
function keepGarbageYoung(): void {
  flushCompileCache()
  setFlagsFromString('--no-allocation-site-pretenuring')
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
