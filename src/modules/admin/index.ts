import { createDays } from '../../kernel/days.ts'
import { defineModule } from '../../module.ts'
import { createChanges } from '../../platform/kept.ts'
import { authModule } from '../auth/index.ts'
import { inventoryModule } from '../inventory/index.ts'
import { ordersModule } from '../orders/index.ts'
import { paymentsModule } from '../payments/index.ts'
import { auditRoutes } from './audit/routes.ts'
import { createAuditService } from './audit/service.ts'
import { configurationRoutes } from './configuration/routes.ts'
import { createFigures } from './dashboard/figures.ts'
import { createKeptDays, keepDays } from './dashboard/kept-days.ts'
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
  jobs: [keepDays],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: 'Who changed what stays: of it, an account has its id alone.',
  setup: async ({ config, durations, house, ...platform }, _settings, { auth, ...apis }) => {
    const { audit, broadcast, cache, db, deliveries, log } = platform
    const changes = createChanges(broadcast, 'admin.maintenance')
    const maintenance = await createMaintenance({ db, changes, log })
    const events = createEventService({ db, deliveries, log })
    const modules = createModuleService({ db, cache, deliveries, modules: house.modules })
    const { time_zone: timeZone } = config.shop
    const days = createDays(timeZone)
    const { inventory, orders, payments } = apis
    const counted = Object.entries({ auth, orders, payments }).flatMap(([name, api]) => (api ? [name] : []))
    const read = createFigures({ db, auth, orders, payments })
    const keptDays = createKeptDays({ db, days, scope: [timeZone, ...counted].join(' '), read })
    const dashboard = createDashboard({
      ...{ db, deliveries, durations, days, timeZone, keptDays },
      ...{ payments, inventory }
    })
    return {
      api: {},
      refusal: maintenance.refusal,
      handlers: { 'admin.keep_days': (_job, signal) => keptDays.keep(signal) },
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
