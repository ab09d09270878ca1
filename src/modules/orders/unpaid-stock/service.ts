import { found } from '../../../kernel/errors.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { orderNotFound, unpaidStockLimit } from '../errors.ts'
import { noteContested } from '../evictions/repository.ts'
import { isDeferred } from '../placing/terms.ts'
import { type Excess, findExcess, type Scope, type UnitsByScope, type UnpaidLimits } from './limits.ts'
import * as repository from './repository.ts'

type Deps = {
  /** Absent: no buyer is verified. */
  auth: Pick<AuthApi, 'contacts'> | undefined
  /** Absent: nothing is reserved, and nothing is limited. */
  inventory: Pick<InventoryApi, 'availableIn' | 'refuseContested'> | undefined
  limits: UnpaidLimits
  /** The most units that pending orders of one network contest. */
  contestedMax: number
  countRefusal: (scope: Scope | 'contested') => void
}
/** An order, and how its payment begins. */
export type DeferredPayment = {
  readonly orderId: string
  readonly method: string | undefined
  /** A keyed hash of the network that it comes from; undefined: that of the order. */
  readonly network?: string | null
}

/** Limits the stock that orders reserve which are paid by bank transfer, on delivery or on account. */
export function createUnpaidStock({ auth, inventory, limits, contestedMax, countRefusal }: Deps) {
  async function isVerified(customerId: string | null): Promise<boolean> {
    if (customerId === null || auth === undefined) return false
    const [contact] = await auth.contacts([customerId])
    return contact?.emailVerified ?? false
  }

  /**
   * Counts the units of an order whose payment is deferred; does nothing for other methods. The order is in `tx` already.
   * @throws `ORDER_UNPAID_STOCK_LIMIT`; `INVENTORY_SHORT` for an order that contests units, which a card payment alone can get
   */
  async function admit(tx: Transaction, { orderId, method, network }: DeferredPayment): Promise<void> {
    if (!isDeferred(method)) return
    const subject = found(await tx.first(repository.findSubject, { id: orderId }), orderNotFound)
    const { buyer, variant_ids } = subject
    const [available = [], is_verified] = await Promise.all([
      inventory?.availableIn(tx, variant_ids),
      isVerified(subject.customer_id),
      inventory?.refuseContested(tx, orderId)
    ])
    const availableOf = new Map(variant_ids.map((id, index) => [id, available[index] ?? null]))
    // Of what is not counted, or can always be had, nothing is taken away from other buyers.
    const counted = variant_ids.filter(id => availableOf.get(id) !== null)
    const from = network === undefined ? subject.network : network
    const [, , , rows, totals] = await Promise.all([
      // One lock for all, because transactions hold several orders, and would take several locks in different orders.
      tx.run(repository.lockUnpaidUnits),
      tx.run(repository.deferOrder, { id: orderId, is_verified }),
      tx.run(repository.insertUnits, {
        ...{ order_id: orderId, variant_ids: counted, buyer, network: from, is_verified }
      }),
      tx.rows(repository.listUnits, { order_id: orderId }),
      tx.first(repository.sumUnits, { buyer, network: from })
    ])
    const byScope = (row: { of_buyer: number; of_network: number; of_unverified: number }): UnitsByScope => ({
      buyer: row.of_buyer,
      network: from === null ? null : row.of_network,
      unverified: is_verified ? null : row.of_unverified
    })
    const variants = rows.map(row => ({
      variantId: row.variant_id,
      requested: row.requested,
      available: availableOf.get(row.variant_id) ?? 0,
      reserved: row.reserved,
      by: byScope(row)
    }))
    const excess = totals && variants.length > 0 ? findExcess(byScope(totals), variants, limits) : undefined
    if (excess === undefined) return
    countRefusal(excess.scope)
    throw unpaidStockLimit({ details: detailsOf(excess) })
  }

  /** Counts the units that an order contests. @throws `ORDER_UNPAID_STOCK_LIMIT` */
  async function admitContested(
    tx: Transaction,
    { orderId, network, units }: { orderId: string; network: string; units: number }
  ): Promise<void> {
    const all = await tx.first(noteContested, { id: orderId, network, units })
    if (all === undefined || all.units <= contestedMax) return
    countRefusal('contested')
    throw unpaidStockLimit({ details: { scope: 'network', limit: contestedMax, items: [] } })
  }

  /** Follows a change of the order, in its transaction. */
  async function sync(tx: Transaction, { id, is_deferred }: { id: string; is_deferred: boolean }) {
    if (is_deferred) await tx.run(repository.syncUnits, { order_id: id })
  }

  /** Returns whether the buyer has verified their address by now, and notes it. */
  async function verify(
    tx: Transaction,
    order: { id: string; customer_id: string | null; is_buyer_verified: boolean }
  ): Promise<boolean> {
    if (order.is_buyer_verified) return true
    if (!(await isVerified(order.customer_id))) return false
    await tx.run(repository.verifyBuyer, { id: order.id })
    return true
  }

  return { admit, admitContested, sync, verify }
}
export type UnpaidStock = ReturnType<typeof createUnpaidStock>

const detailsOf = ({ scope, limit, items }: Excess) => ({
  ...{ scope, ...(limit !== undefined && { limit }) },
  items: items.map(({ variantId: variant_id, requested, allowed }) => ({ variant_id, requested, allowed }))
})
