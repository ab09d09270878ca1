import { found } from '../../../kernel/errors.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { orderNotFoundError, unpaidStockLimitExceededError } from '../errors.ts'
import { type OrderUnderLock, updateLockedOrder } from '../lifecycle/locked-order.ts'
import {
  isDeferredPaymentMethod,
  paymentTimeoutSecondsOf,
  type UnpaidOrderTimeoutSeconds
} from '../lifecycle/terms.ts'
import { saveContestedUnitsAndSumNetwork } from './eviction-repository.ts'
import {
  findExceededUnpaidStockLimit,
  type UnpaidStockLimitExcess,
  type UnpaidStockLimitScope,
  type UnpaidStockLimits,
  type UnpaidUnitsByScope
} from './limits.ts'
import * as repository from './repository.ts'

type Deps = {
  /** Absent in a shop without accounts: then no buyer counts as verified. */
  auth: Pick<AuthApi, 'contacts'> | undefined
  /** Absent in a shop without inventory: then there is no stock to limit. */
  inventory: Pick<InventoryApi, 'availableIn' | 'assertNotContested'> | undefined
  limits: UnpaidStockLimits
  /** Maximum number of units that pending orders of one network contest. */
  contestedMax: number
  paymentTimeouts: UnpaidOrderTimeoutSeconds
  countRefusal: (scope: UnpaidStockLimitScope | 'contested') => void
}
/** An order whose payment starts. */
export type OrderWithStartingPayment = {
  readonly orderId: string
  readonly method: string | undefined
  /** A keyed hash of the client network, of an order that `tx` inserted. Undefined: that stored with an earlier order. */
  readonly network?: string | null
}

/** Limits the stock that unpaid orders by bank transfer, cash on delivery or on account reserve. */
export function createUnpaidStockLimiter(deps: Deps) {
  const { auth, inventory, limits, contestedMax, paymentTimeouts, countRefusal } = deps

  async function isVerified(customerId: string | null): Promise<boolean> {
    if (customerId === null || auth === undefined) return false
    const [contact] = await auth.contacts([customerId])
    return contact?.emailVerified ?? false
  }

  /**
   * Counts the units of an order whose payment is deferred; does nothing for other methods. The order is in
   * `tx` already. @throws `ORDER_UNPAID_STOCK_LIMIT`; `INVENTORY_SHORT` for an order that contests units,
   * because only a card payment can take them
   */
  async function admit(
    tx: Transaction,
    { orderId, method, network }: OrderWithStartingPayment
  ): Promise<void> {
    if (!isDeferredPaymentMethod(method)) return
    const subject = found(
      await tx.first(repository.findUnpaidOrderBuyer, { id: orderId }),
      orderNotFoundError
    )
    const { buyer, variant_ids } = subject
    const [available = [], is_verified] = await Promise.all([
      inventory?.availableIn(tx, variant_ids),
      isVerified(subject.customer_id),
      inventory?.assertNotContested(tx, orderId)
    ])
    const availableOf = new Map(variant_ids.map((id, index) => [id, available[index] ?? null]))
    // Variants without a stock limit are not counted, because reserving them takes nothing from other buyers.
    const counted = variant_ids.filter(id => availableOf.get(id) !== null)
    const isNew = network !== undefined
    const from = isNew ? network : subject.network
    const paymentTimeoutSeconds = isNew
      ? paymentTimeoutSecondsOf([method], paymentTimeouts, { isVerified: is_verified, isDeferred: true })
      : null
    const [, , , rows, totals] = await Promise.all([
      // All orders share one lock, because transactions with several orders would take separate locks in
      // different sequences and deadlock.
      tx.run(repository.lockUnpaidUnits),
      tx.run(repository.markOrderPaymentDeferred, { id: orderId, is_verified, paymentTimeoutSeconds }),
      tx.run(repository.insertUnpaidUnits, { order_id: orderId, variant_ids: counted, network: from }),
      tx.rows(repository.listUnpaidUnitsOfOrderVariants, { order_id: orderId }),
      tx.first(repository.sumUnpaidUnitsOfBuyerAndNetwork, { buyer, network: from })
    ])
    const byScope = (row: {
      of_buyer: number
      of_network: number
      of_unverified: number
    }): UnpaidUnitsByScope => ({
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
    const excess =
      totals && variants.length > 0
        ? findExceededUnpaidStockLimit(byScope(totals), variants, limits)
        : undefined
    if (excess === undefined) return
    countRefusal(excess.scope)
    throw unpaidStockLimitExceededError({ details: detailsOf(excess) })
  }

  /** Counts the units that an order contests. @throws `ORDER_UNPAID_STOCK_LIMIT` */
  async function admitContested(
    tx: Transaction,
    { orderId, network, units }: { orderId: string; network: string; units: number }
  ): Promise<void> {
    const all = await tx.first(saveContestedUnitsAndSumNetwork, { id: orderId, network, units })
    if (all === undefined || all.units <= contestedMax) return
    countRefusal('contested')
    throw unpaidStockLimitExceededError({ details: { scope: 'network', limit: contestedMax, items: [] } })
  }

  /**
   * Updates the counted units after a change of the order, in the same transaction. An order whose payment or
   * shipment was voided counts again. No limit refuses it, because its units are reserved already. The
   * network of a placed order is no longer stored.
   */
  async function sync(tx: Transaction, { id, is_deferred }: { id: string; is_deferred: boolean }) {
    if (!is_deferred || inventory === undefined) return
    const missing = (await tx.rows(repository.syncUnpaidUnitsOfOrder, { order_id: id })).map(
      row => row.variant_id
    )
    const available = await inventory.availableIn(tx, missing)
    const variant_ids = missing.filter((_, index) => available[index] !== null)
    if (variant_ids.length > 0)
      await tx.run(repository.insertUnpaidUnits, { order_id: id, variant_ids, network: null })
  }

  /** Records in the order whether the buyer has verified their email address by now. Returns the order. */
  async function verify(tx: Transaction, locked: OrderUnderLock): Promise<OrderUnderLock> {
    const { is_buyer_verified, customer_id } = locked.order
    if (is_buyer_verified || !(await isVerified(customer_id))) return locked
    return updateLockedOrder(tx, locked, repository.markBuyerOfOrderVerified, {})
  }

  return { admit, admitContested, sync, verify }
}
export type UnpaidStockLimiter = ReturnType<typeof createUnpaidStockLimiter>

const detailsOf = ({ scope, limit, items }: UnpaidStockLimitExcess) => ({
  scope,
  ...(limit !== undefined && { limit }),
  items: items.map(({ variantId: variant_id, requested, allowed }) => ({ variant_id, requested, allowed }))
})
