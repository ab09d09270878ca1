import { createTimeZoneDays } from '../../kernel/days.ts'
import { defineModule } from '../../module.ts'
import { createCacheInvalidator } from '../../platform/cached.ts'
import { authModule, userResource } from '../auth/index.ts'
import { inventoryModule } from '../inventory/index.ts'
import { ordersModule } from '../orders/index.ts'
import { paymentsModule } from '../payments/index.ts'
import { auditRoutes } from './audit/routes.ts'
import { createAuditListService } from './audit/service.ts'
import { configurationRoutes } from './configuration/routes.ts'
import { createDailyStatisticsService, storeDailyStatisticsJob } from './dashboard/daily-statistics.ts'
import { dashboardRoutes } from './dashboard/routes.ts'
import { createDashboardService } from './dashboard/service.ts'
import { createDashboardStatisticsReader } from './dashboard/statistics.ts'
import { eventFeedRoutes } from './event-feed/routes.ts'
import { eventAdministrationRoutes } from './events/routes.ts'
import { createEventAdministration } from './events/service.ts'
import { maintenanceRoutes } from './maintenance/routes.ts'
import { createMaintenanceService } from './maintenance/service.ts'
import { moduleHealthRoutes } from './modules/routes.ts'
import { createModuleHealthService } from './modules/service.ts'
import { userAdministrationRoutes } from './users/routes.ts'
import { createUserSchemas } from './users/schema.ts'
import { createUserAdministration } from './users/service.ts'

/** Made when the module is loaded, because the resource then knows the names that it has itself. */
const userSchemas = createUserSchemas(userResource)

/** Administration of the shop as a whole. */
export const adminModule = defineModule({
  name: 'admin',
  description:
    'Administration of the whole shop: dashboard, modules, events, users, audit log and maintenance mode.',
  basePaths: ['/api/admin'],
  requires: {},
  uses: { auth: authModule, inventory: inventoryModule, payments: paymentsModule, orders: ordersModule },
  jobs: [storeDailyStatisticsJob],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: 'Audit entries remain. They contain the id of an account and no other personal data.',
  setup: async ({ config, durations, house, ...platform }, _settings, { auth, ...apis }) => {
    const { audit, broadcast, cache, db, deliveries, eventLog, log } = platform
    const invalidation = createCacheInvalidator(broadcast, 'admin.maintenance')
    const maintenance = await createMaintenanceService({ db, invalidation, log })
    const events = createEventAdministration({ db, deliveries, log })
    const modules = createModuleHealthService({ db, cache, deliveries, modules: house.modules })
    const { time_zone: timeZone } = config.shop
    const days = createTimeZoneDays(timeZone)
    const { inventory, orders, payments } = apis
    const enabled = Object.entries({ auth, orders, payments }).flatMap(([name, api]) => (api ? [name] : []))
    const dailyStatistics = createDailyStatisticsService({
      db,
      days,
      scope: [timeZone, ...enabled].join(' '),
      compute: createDashboardStatisticsReader({ db, auth, orders, payments })
    })
    const dashboard = createDashboardService({
      db,
      deliveries,
      durations,
      days,
      timeZone,
      dailyStatistics,
      payments,
      inventory
    })
    return {
      api: {},
      guard: maintenance.guard,
      jobHandlers: { 'admin.keep_days': (_job, signal) => dailyStatistics.storeDue(signal) },
      hasWork: { 'admin.keep_days': dailyStatistics.hasDueDays },
      routes: tiers => {
        moduleHealthRoutes(tiers, modules)
        dashboardRoutes(tiers, dashboard)
        configurationRoutes(tiers, house.config)
        if (auth !== undefined) {
          const users = createUserAdministration({ db, auth, modules: house.modules })
          userAdministrationRoutes(tiers, users, userSchemas)
        }
        auditRoutes(tiers, createAuditListService({ audit, auth }))
        maintenanceRoutes(tiers, maintenance)
        eventAdministrationRoutes(tiers, events)
        eventFeedRoutes(tiers, eventLog)
      }
    }
  }
})
