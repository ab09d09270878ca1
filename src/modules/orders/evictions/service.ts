import { derivedId } from '../../../kernel/ids.ts'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import type { InventoryApi, StockPart } from '../../inventory/index.ts'
import type { PaymentStatus } from '../life/status.ts'
import * as repository from './repository.ts'
import { evictableUnits, firstWith, protectionsOf, rankVictims } from './victims.ts'

type Deps = {
  /** Absent: no buyer is verified. */
  auth: Pick<AuthApi, 'contacts'> | undefined
  /** Absent: nothing is reserved, and nothing is contested. */
  inventory: Pick<InventoryApi, 'availableIn' | 'claimants' | 'confirm' | 'take' | 'takesDone'> | undefined
  /** Units that no paid order takes from a verified buyer, and from the new card orders of a network. */
  protectedUnits: number
  /** How long an order to be paid by card is new: its buyer is at the payment. */
  cardSeconds: number
}

/** How often an order that is paid tries to take what it lacks, each time that others changed what there is. */
const TAKES_MAX = 10
/** Claims are chosen for more than is lacking, because some of them are paid before the inventory takes them. */
const SPARE_UNITS = 20

/** An order whose money is authorised or captured takes the units that it contests from orders that are not paid. */
export function createEvictions({ auth, inventory, protectedUnits, cardSeconds }: Deps) {
  async function rank(db: Queryable, variantIds: readonly string[], taker?: string) {
    const all = (await inventory?.claimants(db, variantIds)) ?? []
    const claims = all.filter(({ owner }) => owner !== taker)
    if (claims.length === 0) return []
    const ids = [...new Set(claims.map(({ owner }) => owner))]
    const orders = await db.rows(repository.listUnpaid, { ids })
    const customers = [...new Set(orders.flatMap(({ customer_id }) => customer_id ?? []))]
    const verified = new Set(
      (customers.length === 0 ? [] : ((await auth?.contacts(customers)) ?? []))
        .filter(({ emailVerified }) => emailVerified)
        .map(({ id }) => id)
    )
    const isVerified = ({ customer_id }: { customer_id: string | null }) => verified.has(customer_id ?? '')
    const networks = orders.filter(each => !isVerified(each)).flatMap(({ network }) => network ?? [])
    const [theirs, newest] = await Promise.all([
      verified.size === 0 ? [] : db.rows(repository.listUnpaidOf, { customer_ids: [...verified] }),
      networks.length === 0 || cardSeconds === 0
        ? []
        : db.rows(repository.listNewCardOrders, { networks: [...new Set(networks)], seconds: cardSeconds })
    ])
    const protections = new Map([
      ...protectionsOf(newest, ({ network }) => network),
      ...protectionsOf(theirs, ({ customer_id }) => customer_id)
    ])
    const unpaid = orders.map(order => ({
      ...{ id: order.id, network: order.network, isVerified: isVerified(order) },
      protection: protections.get(order.id) ?? null
    }))
    return rankVictims(claims, unpaid, protectedUnits)
  }

  /** Units of the items of these variants that an order could take if it were paid now. */
  const evictable = async (db: Queryable, variantIds: readonly string[]): Promise<Map<string, number>> =>
    evictableUnits(await rank(db, variantIds))

  async function post(tx: Transaction, orderId: string, parts: readonly StockPart[], attempt: number) {
    const ranked = await rank(tx, itemIdsOf(parts), orderId)
    const victims = firstWith(ranked, parts, SPARE_UNITS)
    await inventory?.take(tx, {
      id: takeIdOf(orderId, attempt),
      owner: orderId,
      parts,
      victims: victims.map(({ owner, keep }) => ({ owner, keep }))
    })
  }

  return {
    evictable,

    /**
     * From now on no other order takes units from this one. Returns whether it has all of its units; when it lacks some and `isPaid`, it
     * takes them: `inventory.taken` says whether it could.
     */
    async secure(tx: Transaction, orderId: string, isPaid: boolean): Promise<boolean> {
      const lacking = (await inventory?.confirm(tx, orderId)) ?? []
      if (lacking.length > 0 && isPaid) {
        // Attempts of an earlier payment, which went back before their outcome was heard, are not made again.
        const done = await inventory?.takesDone(tx, takeIdsOf(orderId))
        await post(tx, orderId, lacking, done ?? 0)
      }
      return lacking.length === 0
    },

    /** Tries once more after an attempt that failed. Returns false when there is not enough that could be taken. */
    async takeAgain(tx: Transaction, orderId: string, failedId: string): Promise<boolean> {
      const parts = (await inventory?.confirm(tx, orderId)) ?? []
      const attempt = takeIdsOf(orderId).indexOf(failedId) + 1 || TAKES_MAX
      const itemIds = itemIdsOf(parts)
      const [free = [], units] = await Promise.all([
        inventory?.availableIn(tx, itemIds),
        evictableUnits(await rank(tx, itemIds, orderId))
      ])
      const isEnough = parts.every(({ itemId, quantity }, index) => {
        const available = free[index] ?? Number.POSITIVE_INFINITY
        return available + (units.get(itemId) ?? 0) >= quantity
      })
      if (!isEnough || attempt >= TAKES_MAX) return false
      await post(tx, orderId, parts, attempt)
      return true
    }
  }
}
export type Evictions = ReturnType<typeof createEvictions>

/** The id of the request with which an order takes units for the first time, or after so many attempts. */
const takeIdOf = (orderId: string, attempt: number): string => derivedId(orderId, `take:${attempt}`)

const takeIdsOf = (orderId: string): string[] =>
  Array.from({ length: TAKES_MAX }, (_, attempt) => takeIdOf(orderId, attempt))

/** Whether money came for an order, so that it may not lose its units. */
export const hasMoney = (status: PaymentStatus | null): boolean => status !== null && status !== 'unpaid'

const itemIdsOf = (parts: readonly StockPart[]) => parts.map(({ itemId }) => itemId)
