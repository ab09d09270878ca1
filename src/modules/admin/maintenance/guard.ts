import type { DomainError } from '../../../kernel/errors.ts'
import { shopInMaintenanceError } from '../errors.ts'
import type { MaintenanceModeRow } from './repository.ts'

const RETRY_SECONDS = 300
const RETRY_SECONDS_MAX = 3_600

type Maintenance = Pick<MaintenanceModeRow, 'enabled' | 'message' | 'until'>

/** Whether maintenance is active at `now`, in milliseconds since 1970. It ends automatically at `until`. */
export const isMaintenanceActiveAt = (
  { enabled, until }: Pick<Maintenance, 'enabled' | 'until'>,
  now: number
): boolean => enabled && (until === null || now < until.getTime())

/** Returns the error for writes of customers and guests, or undefined when they are allowed. `now`: milliseconds since 1970. */
export function maintenanceErrorAt(maintenance: Maintenance, now: number): DomainError | undefined {
  if (!isMaintenanceActiveAt(maintenance, now)) return undefined
  const { message, until } = maintenance
  const remainingSeconds = until === null ? RETRY_SECONDS : Math.ceil((until.getTime() - now) / 1_000)
  const retryAfterSeconds = Math.min(remainingSeconds, RETRY_SECONDS_MAX)
  return shopInMaintenanceError({ details: { message, until }, retryAfterSeconds })
}
