import { type RowOf, statement } from '../../../platform/postgres/statement.ts'

const columns = {
  enabled: 'bool',
  message: 'text?',
  until: 'timestamptz?',
  version: 'int4',
  updated_at: 'timestamptz'
} as const

export const findMaintenanceMode = statement({
  name: 'admin.find_maintenance',
  gives: columns,
  text: 'select enabled, message, until, version, updated_at from admin.maintenance'
})
export type MaintenanceModeRow = RowOf<typeof findMaintenanceMode>

export const lockMaintenanceMode = statement({
  name: 'admin.lock_maintenance',
  gives: { version: 'int4' },
  text: 'select version from admin.maintenance for update'
})
export const updateMaintenanceMode = statement({
  name: 'admin.update_maintenance',
  takes: { enabled: 'bool', message: 'text?', until: 'timestamptz?' },
  text: `
    update admin.maintenance set
      enabled = $enabled, message = $message, until = $until, version = version + 1, updated_at = now()`
})
