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
        summary: 'Whether shoppers may change anything just now',
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
        summary: 'Let shoppers only read, or change things again; what is left out is nothing',
        body: SetMaintenanceRequest,
        response: { 200: MaintenanceResponse }
      }
    },
    request => maintenance.set(request.body, writeOf(request))
  )
}
