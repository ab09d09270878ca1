import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { DashboardQuery, DashboardResponse } from './schema.ts'
import type { Dashboard } from './service.ts'

export function dashboardRoutes(tiers: Tiers, dashboard: Dashboard): void {
  tiers.admin.get(
    '/admin/dashboard',
    {
      config: { class: 'account' },
      schema: {
        summary: 'Figures of the shop over a period, in all and by day; at most five seconds old',
        querystring: DashboardQuery,
        response: { 200: DashboardResponse }
      }
    },
    request => dashboard.read(request.query)
  )
}
