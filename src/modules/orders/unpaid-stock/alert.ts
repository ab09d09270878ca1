import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { unpaidStockHighEvent } from '../events.ts'
import * as repository from './repository.ts'

type Deps = {
  db: Database
  emit: Emit
  inventory: Pick<InventoryApi, 'availableIn'> | undefined
  /** Share of a variant, in percent, from which staff are notified; 0: never. */
  alertPercent: number
  /** Units of a variant that never cause an alert. */
  unitsAlways: number
}

const VARIANTS_MAX = 100
const ALERT_SECONDS = 86_400

/** Notifies staff, once a day at most, when unpaid orders reserve a large share of some variants. */
export function createUnpaidStockAlert({ db, emit, inventory, alertPercent, unitsAlways }: Deps) {
  async function listHigh() {
    const rows = await db.rows(repository.listVariantsWithMostUnpaidUnits, {
      more_than: unitsAlways,
      limit: VARIANTS_MAX
    })
    const ids = rows.map(({ variant_id }) => variant_id)
    const available = (await inventory?.availableIn(db, ids)) ?? []
    return rows
      .map(({ variant_id, units }, index) => {
        const free = available[index] ?? null
        return { variant_id, units, percent: free === null ? 0 : Math.floor((units * 100) / (units + free)) }
      })
      .filter(({ percent }) => percent >= alertPercent)
  }

  return async (): Promise<void> => {
    if (alertPercent === 0) return
    const variants = await listHigh()
    if (variants.length === 0) return
    await db.transaction(async tx => {
      if ((await tx.first(repository.recordUnpaidStockAlert, { seconds: ALERT_SECONDS })) === undefined)
        return
      const sums = await tx.first(repository.sumAllUnpaidUnits)
      if (sums !== undefined) emit(tx, unpaidStockHighEvent, LOWEST_ID, { variants, ...sums })
    })
  }
}
