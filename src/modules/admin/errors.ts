import { defineError } from '../../kernel/errors.ts'

export const failedEventNotFoundError = defineError(
  'not_found',
  'ADMIN_EVENT_NOT_FOUND',
  'There is no such failed event or job. It may have been handled in the meantime, or is running now.'
)
export const dashboardPeriodInvalidError = defineError(
  'invalid',
  'ADMIN_PERIOD_INVALID',
  'The period is not valid. Send "to" not before "from", and 366 days at most.'
)
export const shopInMaintenanceError = defineError(
  'unavailable',
  'SHOP_IN_MAINTENANCE',
  'The shop is in maintenance mode. You can read everything, but not buy or change anything. Try again later.',
  { mayPass: true }
)
export const maintenanceModeStaleError = defineError(
  'stale',
  'ADMIN_MAINTENANCE_STALE',
  'The maintenance mode has changed since you read it. Read it again.'
)
export const maintenanceEndPastError = defineError(
  'invalid',
  'ADMIN_MAINTENANCE_OVER',
  'The time in "until" is in the past. Send a later time or null.'
)
export const ownAccountChangeForbiddenError = defineError(
  'conflict',
  'ADMIN_OWN_ACCOUNT',
  'Administrators cannot change their own rights, or disable or delete their own account. Ask another administrator.'
)
export const adminScopeUnknownError = defineError(
  'invalid',
  'ADMIN_SCOPE_UNKNOWN',
  'A scope is not the name of a module. Use names of "modules".'
)
