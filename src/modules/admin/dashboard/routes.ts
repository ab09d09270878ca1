import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { DashboardQuery, DashboardResponse } from './schema.ts'
import type { Dashboard } from './service.ts'

export function dashboardRoutes(tiers: Tiers, dashboard: Dashboard): void {
  tiers.admin.get(
    '/admin/dashboard',
    {
      config: { class: 'account' },
      schema: {
        summary: 'Figures of the shop over a period, in all and by day',
        description:
          'Figures of today are at most five seconds old. Those of an earlier day are counted again after a 24th of its age: an hour for yesterday, a day for last month. `top_products` are found among the 25 products with the most units of each day.',
        querystring: DashboardQuery,
        response: { 200: DashboardResponse }
      }
    },
    request => dashboard.read(request.query)
  )
}
