import { flushCompileCache } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'

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

/** Loads the code of a shop in parts. */
export async function loadShopCode(): Promise<typeof import('../shop.ts')> {
  for (const load of PARTS) {
    await nextTurn()
    await load()
  }
  await nextTurn()
  return import('../shop.ts')
}

/**
 * Turns off pretenuring: V8 allocates objects in the old generation when earlier ones from the same place survived young
 * collections. A burst of connections was enough to cause it. From then on each request left garbage in the old generation,
 * and a rejection took 45 us instead of 32 (2026-11). Runs after the start and flushes the compile cache first, because Node
 * does not reuse code that was compiled under other flags.
 */
export function keepGarbageYoung(): void {
  flushCompileCache()
  setFlagsFromString('--no-allocation-site-pretenuring')
}
