import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { ModulesResponse } from './schema.ts'
import type { ModuleService } from './service.ts'

export function moduleRoutes(tiers: Tiers, modules: ModuleService): void {
  tiers.admin.get(
    '/admin/modules',
    {
      config: { class: 'account' },
      schema: { summary: 'The modules, and how they are', response: { 200: ModulesResponse } }
    },
    () => modules.list()
  )
}
