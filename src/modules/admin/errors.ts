import { defineError } from '../../kernel/errors.ts'

export const eventNotFound = defineError(
  'not_found',
  'ADMIN_EVENT_NOT_FOUND',
  'There is no such event; it may have been handled in the meantime, or is being tried just now.'
)
export const periodInvalid = defineError(
  'invalid',
  'ADMIN_PERIOD_INVALID',
  'A period ends on the day on which it begins or later, and has 366 days at most.'
)
export const shopInMaintenance = defineError(
  'unavailable',
  'SHOP_IN_MAINTENANCE',
  'The shop is being worked on: everything can be looked at, and nothing bought or changed just now.',
  { mayPass: true }
)
export const maintenanceStale = defineError(
  'stale',
  'ADMIN_MAINTENANCE_STALE',
  'Somebody else has set it in the meantime; read it again.'
)
export const maintenanceOver = defineError(
  'invalid',
  'ADMIN_MAINTENANCE_OVER',
  'It would have ended already: "until" is in the past.'
)
export const ownAccount = defineError(
  'conflict',
  'ADMIN_OWN_ACCOUNT',
  'Administrators do not take their own rights, or their own account, away here: another one does.'
)
export const scopeUnknown = defineError(
  'invalid',
  'ADMIN_SCOPE_UNKNOWN',
  'There is no module of this name; "modules" lists those that there are.'
)
