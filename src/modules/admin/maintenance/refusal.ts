import type { DomainError } from '../../../kernel/errors.ts'
import { shopInMaintenance } from '../errors.ts'
import type { MaintenanceRow } from './repository.ts'

const RETRY_SECONDS = 300
/** For what should have been over by now. */
const LATE_SECONDS = 60
const RETRY_SECONDS_MAX = 3_600

type Maintenance = Pick<MaintenanceRow, 'enabled' | 'message' | 'until'>

/** What shoppers are told who want to change something; `undefined` when they may. `now` in milliseconds since 1970. */
export function refusalIn({ enabled, message, until }: Maintenance, now: number): DomainError | undefined {
  if (!enabled) return undefined
  const left = until === null ? RETRY_SECONDS : Math.ceil((until.getTime() - now) / 1_000)
  const retryAfterSeconds = left <= 0 ? LATE_SECONDS : Math.min(left, RETRY_SECONDS_MAX)
  return shopInMaintenance({ details: { message, until }, retryAfterSeconds })
}
