import { defineModule } from '../../module.ts'
import { authModule } from '../auth/index.ts'
import { auditRoutes } from './audit/routes.ts'
import { createAuditService } from './audit/service.ts'
import { configurationRoutes } from './configuration/routes.ts'
import { eventRoutes } from './events/routes.ts'
import { createEventService } from './events/service.ts'
import { moduleRoutes } from './modules/routes.ts'
import { createModuleService } from './modules/service.ts'

/** What concerns the shop as a whole, for those who look after it. */
export const adminModule = defineModule({
  name: 'admin',
  description: 'What concerns the whole shop, for administrators: its modules, events, and who changed what.',
  basePaths: ['/api/admin'],
  requires: {},
  uses: { auth: authModule },
  setup: async ({ audit, cache, db, deliveries, house, log }, _settings, { auth }) => {
    const events = createEventService({ db, deliveries, log })
    const modules = createModuleService({ db, cache, deliveries, modules: house.modules })
    return {
      api: {},
      routes: tiers => {
        moduleRoutes(tiers, modules)
        configurationRoutes(tiers, house.config)
        auditRoutes(tiers, createAuditService({ audit, auth }))
        eventRoutes(tiers, events)
      }
    }
  }
})
