import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { DashboardQuery, DashboardResponse } from './schema.ts'
import type { DashboardService } from './service.ts'

export function dashboardRoutes(tiers: Tiers, dashboard: DashboardService): void {
  tiers.admin.get(
    '/admin/dashboard',
    {
      config: { class: 'account' },
      schema: {
        summary: 'Retrieve the dashboard',
        description:
          'Returns statistics of orders, revenue and new customers of a period, in total and by day, and what needs attention now. Statistics of today are at most five seconds old. Those of an earlier day are computed again after a 24th of its age: an hour for yesterday, a day for last month. `top_products` are found among the 25 products with the most units of each day. 400 `ADMIN_PERIOD_INVALID`: send at most 366 days, with `to` not before `from`.',
        querystring: DashboardQuery,
        response: { 200: DashboardResponse }
      }
    },
    request => dashboard.read(request.query)
  )
}
