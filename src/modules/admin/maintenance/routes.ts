import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { MaintenanceResponse, SetMaintenanceRequest } from './schema.ts'
import type { MaintenanceService } from './service.ts'

const config = { class: 'account' } as const

export function maintenanceRoutes(tiers: Tiers, maintenance: MaintenanceService): void {
  tiers.admin.get(
    '/admin/maintenance',
    {
      config,
      schema: {
        summary: 'Retrieve the maintenance mode',
        description:
          'Returns whether maintenance mode is active, its message and its end. While it is active, customers and guests can read but not write.',
        response: { 200: MaintenanceResponse }
      }
    },
    () => maintenance.read()
  )

  tiers.admin.put(
    '/admin/maintenance',
    {
      config,
      schema: {
        summary: 'Set the maintenance mode',
        description:
          'Enables or disables maintenance mode in every process within a second. While it is active, writes of customers and guests are rejected with 503 `SHOP_IN_MAINTENANCE`; administrators and payment providers are not affected. Fields that are omitted become null. 400 `ADMIN_MAINTENANCE_OVER`: `until` is in the past. 412 `ADMIN_MAINTENANCE_STALE`: read it again and send its version as `If-Match`.',
        body: SetMaintenanceRequest,
        response: { 200: MaintenanceResponse }
      }
    },
    request => maintenance.set(request.body, writeOf(request))
  )
}
