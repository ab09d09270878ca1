import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { listLines } from '../changes/repository.ts'
import { isSecured } from '../life/status.ts'
import { findOutcome } from './repository.ts'

type Deps = { db: Database; inventory: Pick<InventoryApi, 'refuse'> | undefined }

/** An order usually has its units after a few milliseconds. */
const WAIT_MS = 2_000
const POLL_MS = 25

/**
 * Waits a moment until an order that is paid has the units that it contested.
 * @throws `INVENTORY_SHORT` when there were not enough: the order is canceled, and the money goes back.
 */
export function createOutcome({ db, inventory }: Deps) {
  async function refuse(order_id: string) {
    const lines = await db.rows(listLines, { order_id })
    await inventory?.refuse(
      db,
      lines.map(({ variant_id: variantId, ordered: quantity }) => ({ variantId, quantity }))
    )
  }

  return async (orderId: string): Promise<void> => {
    const giveUpAt = performance.now() + WAIT_MS
    for (;;) {
      const order = await db.first(findOutcome, { id: orderId })
      if (order?.canceled_for === 'short') await refuse(orderId)
      const isUnderWay = order?.state === 'pending' && isSecured(order.payment_status)
      if (!isUnderWay || performance.now() > giveUpAt) return
      await delay(POLL_MS)
    }
  }
}
