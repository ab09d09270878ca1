import { setTimeout as delay } from 'node:timers/promises'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { listOrderLines } from '../lifecycle/repository.ts'
import { isPaymentSecured } from '../lifecycle/status.ts'
import { findStockEvictionOutcomeOfOrder } from './eviction-repository.ts'

type Deps = { db: Database; inventory: Pick<InventoryApi, 'rejectShort'> | undefined }

/** Milliseconds to wait. A paid order usually has its units after a few milliseconds. */
const WAIT_MS = 2_000
const POLL_MS = 25

/**
 * Creates the function that waits until a paid order has the units that it contested.
 * @throws `INVENTORY_SHORT` if there were not enough; the order is canceled and refunded then
 */
export function createStockEvictionWaiter({ db, inventory }: Deps) {
  async function refuse(order_id: string) {
    const lines = await db.rows(listOrderLines, { order_id })
    await inventory?.rejectShort(
      db,
      lines.map(({ variant_id: variantId, ordered: quantity }) => ({ variantId, quantity }))
    )
  }

  return async (orderId: string): Promise<void> => {
    const giveUpAt = performance.now() + WAIT_MS
    for (;;) {
      const order = await db.first(findStockEvictionOutcomeOfOrder, { id: orderId })
      if (order?.canceled_for === 'short') await refuse(orderId)
      const isUnderWay = order?.state === 'pending' && isPaymentSecured(order.payment_status)
      if (!isUnderWay || performance.now() > giveUpAt) return
      await delay(POLL_MS)
    }
  }
}
