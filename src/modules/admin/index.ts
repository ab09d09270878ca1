import { defineModule } from '../../module.ts'
import { createChanges } from '../../platform/kept.ts'
import { authModule } from '../auth/index.ts'
import { inventoryModule } from '../inventory/index.ts'
import { ordersModule } from '../orders/index.ts'
import { paymentsModule } from '../payments/index.ts'
import { auditRoutes } from './audit/routes.ts'
import { createAuditService } from './audit/service.ts'
import { configurationRoutes } from './configuration/routes.ts'
import { dashboardRoutes } from './dashboard/routes.ts'
import { createDashboard } from './dashboard/service.ts'
import { eventRoutes } from './events/routes.ts'
import { createEventService } from './events/service.ts'
import { maintenanceRoutes } from './maintenance/routes.ts'
import { createMaintenance } from './maintenance/service.ts'
import { moduleRoutes } from './modules/routes.ts'
import { createModuleService } from './modules/service.ts'
import { userRoutes } from './users/routes.ts'
import { createUserService } from './users/service.ts'

/** What concerns the shop as a whole, for those who look after it. */
export const adminModule = defineModule({
  name: 'admin',
  description:
    'What concerns the whole shop, for administrators: its figures, modules and events, who changed what, and maintenance.',
  basePaths: ['/api/admin'],
  requires: {},
  uses: { auth: authModule, inventory: inventoryModule, payments: paymentsModule, orders: ordersModule },
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: 'Who changed what stays: of it, an account has its id alone.',
  setup: async ({ config, durations, house, ...platform }, _settings, { auth, ...apis }) => {
    const { audit, broadcast, cache, db, deliveries, log } = platform
    const changes = createChanges(broadcast, 'admin.maintenance')
    const maintenance = await createMaintenance({ db, changes, log })
    const events = createEventService({ db, deliveries, log })
    const modules = createModuleService({ db, cache, deliveries, modules: house.modules })
    const dashboard = createDashboard({
      ...{ db, deliveries, durations, timeZone: config.shop.time_zone },
      ...{ auth, ...apis }
    })
    return {
      api: {},
      refusal: maintenance.refusal,
      routes: tiers => {
        moduleRoutes(tiers, modules)
        dashboardRoutes(tiers, dashboard)
        configurationRoutes(tiers, house.config)
        if (auth !== undefined) userRoutes(tiers, createUserService({ db, auth, modules: house.modules }))
        auditRoutes(tiers, createAuditService({ audit, auth }))
        maintenanceRoutes(tiers, maintenance)
        eventRoutes(tiers, events)
      }
    }
  }
})
