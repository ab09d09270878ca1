import type { DomainError } from '../../../kernel/errors.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { maintenanceEndPastError, maintenanceModeStaleError } from '../errors.ts'
import { isMaintenanceActiveAt, maintenanceErrorAt } from './guard.ts'
import {
  findMaintenanceMode,
  lockMaintenanceMode,
  type MaintenanceModeRow,
  updateMaintenanceMode
} from './repository.ts'
import type { SetMaintenanceRequest } from './schema.ts'

type Deps = { db: Database; invalidation: CacheInvalidator; log: Log }

/** Maintenance mode. Requests are checked against a copy in memory, which is at most a second old. */
export async function createMaintenanceService({ db, invalidation, log }: Deps) {
  const read = async (): Promise<MaintenanceModeRow> => {
    const row = await db.first(findMaintenanceMode)
    if (row === undefined) throw new Error('the row of admin.maintenance is missing')
    return row
  }
  let cached = await read()
  /** Number of changes announced so far, and the number that `cached` includes. */
  let announced = 0
  let included = 0
  let refreshing: Promise<void> | undefined

  async function readUntilCurrent(): Promise<void> {
    while (included !== announced) {
      const upTo = announced
      cached = await read()
      included = upTo
    }
  }
  /** Updates the copy in memory. After a failure the next request tries again. */
  const refresh = (): Promise<void> => {
    refreshing ??= readUntilCurrent()
      .catch((error: unknown) => log.warn({ err: error }, 'the maintenance mode could not be read'))
      .finally(() => {
        refreshing = undefined
      })
    return refreshing
  }
  invalidation.subscribe(() => {
    announced += 1
    void refresh()
  })

  /** `enabled` is false when `until` has passed, although the row still has true. */
  const current = async (): Promise<MaintenanceModeRow> => {
    const row = await read()
    return { ...row, enabled: isMaintenanceActiveAt(row, Date.now()) }
  }

  return {
    read: current,

    /** @throws `ADMIN_MAINTENANCE_STALE`, `ADMIN_MAINTENANCE_OVER` */
    async set(
      { enabled, message, until }: SetMaintenanceRequest,
      write: IdempotentWrite
    ): Promise<MaintenanceModeRow> {
      await write.once(db, async tx => {
        const { version } = (await tx.first(lockMaintenanceMode)) ?? { version: 0 }
        write.expect(version, maintenanceModeStaleError)
        const end = typeof until === 'string' ? new Date(until) : null
        if (enabled && !isMaintenanceActiveAt({ enabled, until: end }, Date.now()))
          throw maintenanceEndPastError()
        await tx.run(updateMaintenanceMode, { enabled, message: message ?? null, until: end })
        invalidation.publish(tx)
      })
      await refresh()
      return current()
    },

    /** Returns the error for writes of customers and guests, or undefined when they are allowed. */
    guard: (): DomainError | undefined => {
      if (included !== announced) void refresh()
      return maintenanceErrorAt(cached, Date.now())
    }
  }
}
export type MaintenanceService = Awaited<ReturnType<typeof createMaintenanceService>>
