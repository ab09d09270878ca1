import { found } from '../../../kernel/errors.ts'
import { sumBy } from '../../../kernel/sum-by.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
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
type StartingPayment = { readonly orderId: string; readonly method: string | undefined }
/** An order that the transaction has inserted, with its first payment. */
type NewUnpaidOrder = {
  readonly order: {
    readonly id: string
    readonly customer_id: string | null
    readonly lines: readonly { readonly variant_id: string }[]
    /** Whether the order was inserted as one that is paid later, and `is_buyer_verified` with it. */
    readonly is_deferred: boolean
    readonly is_buyer_verified: boolean
  }
  readonly method: string | undefined
  /** A keyed hash of the client network, which a placed order does not store. */
  readonly network: string | null
  /** Whether the order takes units that other orders reserve. */
  readonly isContesting: boolean
  /** As `availableOf`, when it was read before. */
  readonly available: UnitsAvailable | undefined
}
type ContestingOrder = {
  readonly orderId: string
  readonly network: string | null
  readonly contested: readonly { readonly quantity: number }[]
}
/** Units of variants that can still be bought. Variants without a stock limit are left out. */
type UnitsAvailable = ReadonlyMap<string, number>
type UnpaidOrder = {
  readonly orderId: string
  readonly available: UnitsAvailable
  readonly network: string | null
  readonly isVerified: boolean
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
   * Counts the units of an order whose payment starts, if the buyer pays later; does nothing for other methods.
   * @throws `ORDER_UNPAID_STOCK_LIMIT`; `INVENTORY_SHORT` for an order that contests units, because only a card
   * payment can take them
   */
  async function admit(tx: Transaction, { orderId, method }: StartingPayment): Promise<void> {
    if (!isDeferredPaymentMethod(method)) return
    const {
      variant_ids: variantIds,
      customer_id,
      network
    } = found(await tx.first(repository.findUnpaidOrderBuyer, { id: orderId }), orderNotFoundError)
    const [is_verified] = await Promise.all([
      isVerified(customer_id),
      inventory?.assertNotContested(tx, orderId)
    ])
    const deferred = { id: orderId, is_verified, paymentTimeoutSeconds: null }
    await tx.run(repository.markOrderPaymentDeferred, deferred)
    const available = await availableOf(tx, variantIds)
    await countUnits(tx, { orderId, available, isVerified: is_verified, network })
  }

  /**
   * Reads how many units of these variants can be bought. Leaves out variants without a stock limit, because reserving
   * them takes nothing from other buyers.
   */
  async function availableOf(db: Queryable, variantIds: readonly string[]): Promise<UnitsAvailable> {
    const quantities = (await inventory?.availableIn(db, variantIds)) ?? []
    return new Map(
      variantIds.flatMap((id, index) => {
        const quantity = quantities[index] ?? null
        return quantity === null ? [] : [[id, quantity]]
      })
    )
  }

  /**
   * As `admit`, for the first payment of an order that `tx` has inserted. Call it last in the transaction: all orders
   * with a deferred payment wait for its lock.
   */
  async function admitNew(
    tx: Transaction,
    { order, method, network, isContesting, available }: NewUnpaidOrder
  ): Promise<void> {
    if (!isDeferredPaymentMethod(method)) return
    const { id: orderId } = order
    if (isContesting) await inventory?.assertNotContested(tx, orderId)
    const isBuyerVerified = order.is_deferred ? order.is_buyer_verified : await isVerified(order.customer_id)
    // The provider has chosen the method.
    if (!order.is_deferred) {
      const flags = { isVerified: isBuyerVerified, isDeferred: true }
      const paymentTimeoutSeconds = paymentTimeoutSecondsOf([method], paymentTimeouts, flags)
      const deferred = { id: orderId, is_verified: isBuyerVerified, paymentTimeoutSeconds }
      await tx.run(repository.markOrderPaymentDeferred, deferred)
    }
    await countUnits(tx, {
      orderId,
      available: available ?? (await availableOf(tx, [...new Set(order.lines.map(line => line.variant_id))])),
      isVerified: isBuyerVerified,
      network
    })
  }

  /** @throws `ORDER_UNPAID_STOCK_LIMIT` */
  async function countUnits(tx: Transaction, order: UnpaidOrder): Promise<void> {
    const { orderId: order_id, available, network } = order
    const variant_ids = [...available.keys()]
    const [, rows] = await Promise.all([
      // All orders share one lock, because transactions with several orders would take separate locks in
      // different sequences and deadlock.
      tx.first(repository.lockUnpaidUnits, { order_id }),
      tx.rows(repository.insertUnpaidUnits, { order_id, variant_ids, network })
    ])
    const [first] = rows
    if (first === undefined) return
    const byScope = (ofBuyer: number, ofNetwork: number, ofUnverified: number): UnpaidUnitsByScope => ({
      buyer: ofBuyer,
      network: network === null ? null : ofNetwork,
      unverified: order.isVerified ? null : ofUnverified
    })
    const variants = rows.map(({ variant_id, requested, reserved, of_buyer, of_network, of_unverified }) => ({
      variantId: variant_id,
      requested,
      reserved,
      available: available.get(variant_id) ?? 0,
      by: byScope(of_buyer, of_network, of_unverified)
    }))
    const totals = byScope(first.all_of_buyer, first.all_of_network, first.all_of_unverified)
    const excess = findExceededUnpaidStockLimit(totals, variants, limits)
    if (excess === undefined) return
    countRefusal(excess.scope)
    throw unpaidStockLimitExceededError({ details: detailsOf(excess) })
  }

  /** Counts the units that an order contests. @throws `ORDER_UNPAID_STOCK_LIMIT` */
  async function admitContested(
    tx: Transaction,
    { orderId, network, contested }: ContestingOrder
  ): Promise<void> {
    const units = sumBy(contested, ({ quantity }) => quantity)
    if (network === null || units === 0) return
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
    const synced = await tx.first(repository.syncUnpaidUnitsOfOrder, { order_id: id })
    const { variant_ids: missing = [], unverified_units: units = 0 } = synced ?? {}
    if (units !== 0) tx.withCommit(() => tx.run(repository.addUnverifiedUnits, { units }))
    const variant_ids = [...(await availableOf(tx, missing)).keys()]
    if (variant_ids.length > 0)
      await tx.rows(repository.insertUnpaidUnits, { order_id: id, variant_ids, network: null })
  }

  /** Records in the order whether the buyer has verified their email address by now. Returns the order. */
  async function verify(tx: Transaction, locked: OrderUnderLock): Promise<OrderUnderLock> {
    const { is_buyer_verified, customer_id } = locked.order
    if (is_buyer_verified || !(await isVerified(customer_id))) return locked
    return updateLockedOrder(tx, locked, repository.markBuyerOfOrderVerified, {})
  }

  return { admit, availableOf, admitNew, admitContested, sync, verify }
}
export type UnpaidStockLimiter = ReturnType<typeof createUnpaidStockLimiter>

const detailsOf = ({ scope, limit, items }: UnpaidStockLimitExcess) => ({
  scope,
  ...(limit !== undefined && { limit }),
  items: items.map(({ variantId: variant_id, requested, allowed }) => ({ variant_id, requested, allowed }))
})
