import type { KeyValueCache } from '../../../platform/cache/cache.ts'
import type { Outbox } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { resolveModuleHealth } from './health.ts'
import type { ModulesResponse } from './schema.ts'

type Deps = {
  db: Pick<Database, 'ping'>
  cache: Pick<KeyValueCache, 'ping'>
  deliveries: Pick<Outbox['console'], 'summary'>
  modules: readonly Omit<ModulesResponse['items'][number], 'health' | 'reasons'>[]
}

/** Lists the modules of the shop with their health. */
export function createModuleHealthService({ db, cache, deliveries, modules }: Deps) {
  const enabledNames = new Set(modules.filter(({ enabled }) => enabled).map(({ name }) => name))
  return {
    /** Lists modules, also while the database or the cache does not respond. */
    async list(): Promise<ModulesResponse> {
      let redis: ModulesResponse['redis'] = null
      const pinging = cache.ping().then(state => {
        redis = state === null ? null : state === 'UP' ? 'up' : 'down'
      })
      const [database, cacheState] = await Promise.all([stateOf(db.ping()), stateOf(pinging)])
      const backlog = database === 'up' ? await deliveries.summary() : undefined
      const items = modules.map(module => ({
        ...module,
        ...resolveModuleHealth(module, enabledNames, backlog)
      }))
      return { items, database, cache: cacheState, redis }
    }
  }
}
export type ModuleHealthService = ReturnType<typeof createModuleHealthService>

const stateOf = (ping: Promise<void>): Promise<'up' | 'down'> =>
  ping.then(
    () => 'up',
    () => 'down'
  )
