import type { DomainError } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Changes } from '../../../platform/kept.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { maintenanceOver, maintenanceStale } from '../errors.ts'
import { isOn, refusalIn } from './refusal.ts'
import { findMaintenance, lockMaintenance, type MaintenanceRow, updateMaintenance } from './repository.ts'
import type { SetMaintenanceRequest } from './schema.ts'

type Deps = { db: Database; changes: Changes; log: Log }

/** Whether shoppers may change anything. Requests ask what this process knows, which is a second old at most. */
export async function createMaintenance({ db, changes, log }: Deps) {
  const read = async (): Promise<MaintenanceRow> => {
    const row = await db.first(findMaintenance)
    if (row === undefined) throw new Error('the row of admin.maintenance is gone')
    return row
  }
  let known = await read()
  /** How many changes were told of, and up to which of them `known` is true. */
  let told = 0
  let seen = 0
  let following: Promise<void> | undefined

  async function catchUp(): Promise<void> {
    while (seen !== told) {
      const upTo = told
      known = await read()
      seen = upTo
    }
  }
  /** What cannot be read now is read with the next request. */
  const follow = (): Promise<void> => {
    following ??= catchUp()
      .catch((error: unknown) => log.warn({ err: error }, 'whether there is maintenance is not known'))
      .finally(() => {
        following = undefined
      })
    return following
  }
  changes.subscribe(() => {
    told += 1
    void follow()
  })

  /** As it is now: whether it is on, and not whether it was switched on. */
  const current = async (): Promise<MaintenanceRow> => {
    const row = await read()
    return { ...row, enabled: isOn(row, Date.now()) }
  }

  return {
    read: current,

    /** @throws `ADMIN_MAINTENANCE_STALE`, `ADMIN_MAINTENANCE_OVER` */
    async set({ enabled, message, until }: SetMaintenanceRequest, write: Write): Promise<MaintenanceRow> {
      await write.once(db, async tx => {
        const { version } = (await tx.first(lockMaintenance)) ?? { version: 0 }
        write.expect(version, maintenanceStale)
        const end = typeof until === 'string' ? new Date(until) : null
        if (enabled && !isOn({ enabled, until: end }, Date.now())) throw maintenanceOver()
        await tx.run(updateMaintenance, { enabled, message: message ?? null, until: end })
        changes.announce(tx)
      })
      await follow()
      return current()
    },

    /** What a shopper is told who wants to change something. */
    refusal: (): DomainError | undefined => {
      if (seen !== told) void follow()
      return refusalIn(known, Date.now())
    }
  }
}
export type MaintenanceService = Awaited<ReturnType<typeof createMaintenance>>
