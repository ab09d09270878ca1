import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { ModulesResponse } from './schema.ts'
import type { ModuleHealthService } from './service.ts'

export function moduleHealthRoutes(tiers: Tiers, modules: ModuleHealthService): void {
  tiers.admin.get(
    '/admin/modules',
    {
      config: { class: 'account' },
      schema: {
        summary: 'List modules',
        description:
          'Returns every module with its health, the reasons when it is not up, and its dependencies. Also returns the state of the database, the cache and Redis. The response is complete even while one of these is down.',
        response: { 200: ModulesResponse }
      }
    },
    () => modules.list()
  )
}
