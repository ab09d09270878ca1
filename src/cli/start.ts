import { flushCompileCache } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { loadConfig } from '../config.ts'
import type { Module } from '../module.ts'
import { type OpenedDatabase, openDatabaseEarly } from './database.ts'
import { onStopSignal } from './stop-signal.ts'

const FORCED_EXIT_MS = 25_000

/**
 * Loading code lets nothing else happen, so it is loaded in parts, which would come all together otherwise. In the turns
 * between them the database's process is started, found to be ready, connected to, and asked for its migrations.
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

/** Runs the shop until a signal asks it to stop: exit code 0 once every request in flight has ended. */
export async function start(loadModules: () => Promise<readonly Module[]>): Promise<void> {
  const opening = openDatabaseEarly()
  for (const load of PARTS) {
    await nextTurn()
    await load()
  }
  await nextTurn()
  const modules = await loadModules()
  const { openShop } = await import('../shop.ts')
  const { welcome } = await import('./first-start.ts')

  const config = await configure(modules, opening)
  const { app, drainMs, begin, stop } = await openShop(modules, config, opening)
  const sayHello = async () => {
    const { address, prepared } = await begin()
    process.stdout.write(await welcome(app, prepared, config, address))
  }
  const say = (line: string) => config.log.level !== 'silent' && process.stdout.write(`${line}\n`)
  // Requests come, and with them signals, before all is said.
  const begun = sayHello()
  const stopOnce = onStopSignal({ msMax: drainMs + FORCED_EXIT_MS, say }, () => stop(begun))
  process.on(
    'uncaughtException',
    app.onUncaught(() => stopOnce(1))
  )
  await begun
  keepGarbageYoung()
}

/**
 * Where objects outlived the quick garbage collections for a moment, V8 makes later ones where only the slow one looks.
 * A burst of connections was enough for it; from then on every request left garbage that was kept for long, and a
 * refusal took 45 us instead of 32 (2026-11). Set when the start is over: Node uses no compiled code that was made under
 * other flags, so what was compiled until now is written first.
 */
function keepGarbageYoung(): void {
  flushCompileCache()
  setFlagsFromString('--no-allocation-site-pretenuring')
}

/** The configuration, now that it is known what the modules want; when it is wrong, no database is left running. */
async function configure(modules: readonly Module[], opening: Promise<OpenedDatabase> | undefined) {
  try {
    return loadConfig(modules)
  } catch (error) {
    await opening?.then(database => database.stop()).catch(() => {})
    throw error
  }
}
