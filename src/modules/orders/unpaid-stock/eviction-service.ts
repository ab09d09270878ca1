import { derivedId } from '../../../kernel/ids.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { InventoryApi, InventoryItemQuantity } from '../../inventory/index.ts'
import type { OrderPaymentStatus } from '../lifecycle/status.ts'
import * as repository from './eviction-repository.ts'
import {
  evictableUnitsByItem,
  rankEvictableOrders,
  selectOrdersToEvict,
  stockEvictionProtectionsOf
} from './eviction-victims.ts'

type Deps = {
  /** Absent in a shop without accounts: then no buyer counts as verified. */
  auth: Pick<AuthApi, 'contacts'> | undefined
  /** Absent in a shop without inventory: then no stock is reserved or contested. */
  inventory:
    | Pick<InventoryApi, 'availableIn' | 'claimants' | 'confirm' | 'take' | 'countFinishedTakes'>
    | undefined
  /** Units that no paid order takes from a verified buyer, and from the new card orders of a network. */
  protectedUnits: number
  /** Seconds during which a card order counts as new, because its buyer is paying. */
  cardSeconds: number
}

/**
 * Maximum number of attempts of a paid order to take missing units. An attempt fails when another order
 * changed the stock.
 */
const TAKES_MAX = 10
/**
 * Units selected beyond the missing ones, because some of the unpaid orders are paid before the inventory
 * takes their units.
 */
const SPARE_UNITS = 20

/** Lets an authorized or paid order take the units that it contests from unpaid orders. */
export function createStockEvictionService({ auth, inventory, protectedUnits, cardSeconds }: Deps) {
  async function rankOrders(db: Queryable, variantIds: readonly string[], taker?: string) {
    const all = (await inventory?.claimants(db, variantIds)) ?? []
    const claims = all.filter(({ owner }) => owner !== taker)
    if (claims.length === 0) return []
    const ids = [...new Set(claims.map(({ owner }) => owner))]
    const orders = await db.rows(repository.listUnpaidOrdersWithIds, { ids })
    const customers = [...new Set(orders.flatMap(({ customer_id }) => customer_id ?? []))]
    const verified = new Set(
      (customers.length === 0 ? [] : ((await auth?.contacts(customers)) ?? []))
        .filter(({ emailVerified }) => emailVerified)
        .map(({ id }) => id)
    )
    const isVerified = ({ customer_id }: { customer_id: string | null }) => verified.has(customer_id ?? '')
    const networks = orders.filter(each => !isVerified(each)).flatMap(({ network }) => network ?? [])
    const [ofVerified, newCardOrders] = await Promise.all([
      verified.size === 0
        ? []
        : db.rows(repository.listUnpaidOrdersOfCustomers, { customer_ids: [...verified] }),
      networks.length === 0 || cardSeconds === 0
        ? []
        : db.rows(repository.listPendingCardOrdersOfNetworks, {
            networks: [...new Set(networks)],
            seconds: cardSeconds
          })
    ])
    const protections = new Map([
      ...stockEvictionProtectionsOf(newCardOrders, ({ network }) => network),
      ...stockEvictionProtectionsOf(ofVerified, ({ customer_id }) => customer_id)
    ])
    const unpaid = orders.map(order => ({
      id: order.id,
      network: order.network,
      isVerified: isVerified(order),
      protection: protections.get(order.id) ?? null
    }))
    return rankEvictableOrders(claims, unpaid, protectedUnits)
  }

  /** Units of the items of these variants that an order could take if it were paid now. */
  const evictable = async (db: Queryable, variantIds: readonly string[]): Promise<Map<string, number>> =>
    evictableUnitsByItem(await rankOrders(db, variantIds))

  async function requestTake(
    tx: Transaction,
    orderId: string,
    parts: readonly InventoryItemQuantity[],
    attempt: number
  ) {
    const ranked = await rankOrders(tx, itemIdsOf(parts), orderId)
    const victims = selectOrdersToEvict(ranked, parts, SPARE_UNITS)
    await inventory?.take(tx, {
      id: takeIdOf(orderId, attempt),
      owner: orderId,
      parts,
      victims: victims.map(({ owner, keep }) => ({ owner, keep }))
    })
  }

  return {
    evictable,

    /** Confirms the units of the order, so that no other order can take them. Returns those that it lacks. */
    confirm: async (tx: Transaction, orderId: string): Promise<readonly InventoryItemQuantity[]> =>
      (await inventory?.confirm(tx, orderId)) ?? [],

    /**
     * Requests the units that an order lacks from unpaid orders. Its payment status is stored before, because the order would
     * count as unpaid. The event `inventory.taken` reports the outcome.
     */
    async take(tx: Transaction, orderId: string, lacking: readonly InventoryItemQuantity[]): Promise<void> {
      // Skips the attempts of an earlier payment that was refunded before their outcome arrived.
      const done = await inventory?.countFinishedTakes(tx, takeIdsOf(orderId))
      await requestTake(tx, orderId, lacking, done ?? 0)
    },

    /** Starts the next attempt after a failed one. Returns false if there are not enough units to take. */
    async takeAgain(tx: Transaction, orderId: string, failedId: string): Promise<boolean> {
      const parts = (await inventory?.confirm(tx, orderId)) ?? []
      const attempt = takeIdsOf(orderId).indexOf(failedId) + 1 || TAKES_MAX
      const itemIds = itemIdsOf(parts)
      const [free = [], units] = await Promise.all([
        inventory?.availableIn(tx, itemIds),
        evictableUnitsByItem(await rankOrders(tx, itemIds, orderId))
      ])
      const isEnough = parts.every(({ itemId, quantity }, index) => {
        const available = free[index] ?? Number.POSITIVE_INFINITY
        return available + (units.get(itemId) ?? 0) >= quantity
      })
      if (!isEnough || attempt >= TAKES_MAX) return false
      await requestTake(tx, orderId, parts, attempt)
      return true
    }
  }
}
export type StockEvictionService = ReturnType<typeof createStockEvictionService>

/**
 * Returns the id of an order's request to take units. `attempt`: the number of earlier requests of the order.
 */
const takeIdOf = (orderId: string, attempt: number): string => derivedId(orderId, `take:${attempt}`)

const takeIdsOf = (orderId: string): string[] =>
  Array.from({ length: TAKES_MAX }, (_, attempt) => takeIdOf(orderId, attempt))

/** Whether an order has a payment, so that it must not lose units. */
export const hasAnyOrderPayment = (status: OrderPaymentStatus | null): boolean =>
  status !== null && status !== 'unpaid'

const itemIdsOf = (parts: readonly InventoryItemQuantity[]) => parts.map(({ itemId }) => itemId)
