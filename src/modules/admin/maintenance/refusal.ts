import type { DomainError } from '../../../kernel/errors.ts'
import { shopInMaintenance } from '../errors.ts'
import type { MaintenanceRow } from './repository.ts'

const RETRY_SECONDS = 300
const RETRY_SECONDS_MAX = 3_600

type Maintenance = Pick<MaintenanceRow, 'enabled' | 'message' | 'until'>

/** Whether it is on at `now`, in milliseconds since 1970: it ends by itself at `until`. */
export const isOn = ({ enabled, until }: Pick<Maintenance, 'enabled' | 'until'>, now: number): boolean =>
  enabled && (until === null || now < until.getTime())

/** What shoppers are told who want to change something; `undefined` when they may. `now` in milliseconds since 1970. */
export function refusalIn(maintenance: Maintenance, now: number): DomainError | undefined {
  if (!isOn(maintenance, now)) return undefined
  const { message, until } = maintenance
  const left = until === null ? RETRY_SECONDS : Math.ceil((until.getTime() - now) / 1_000)
  const retryAfterSeconds = Math.min(left, RETRY_SECONDS_MAX)
  return shopInMaintenance({ details: { message, until }, retryAfterSeconds })
}
