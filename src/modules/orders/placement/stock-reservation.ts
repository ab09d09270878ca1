import { DomainError } from '../../../kernel/errors.ts'
import type { Transaction, TransactionRunner } from '../../../platform/postgres/database.ts'
import type { InventoryApi, InventoryItemQuantity, StockRequestLine } from '../../inventory/index.ts'

type Stock = Pick<InventoryApi, 'reserve' | 'release'>
/** Units of items that the order may contest. */
type Contestable = () => Promise<ReadonlyMap<string, number>>

/**
 * Seconds that stock stays reserved while an order is placed. If the process dies, the reservation expires.
 */
const RESERVED_SECONDS = 120

/**
 * Wraps `begin` so that stock is reserved before each transaction, which then claims it without waiting for
 * other buyers. A failed transaction releases its reservation. When a reservation expired before its claim,
 * stock is reserved again, once. Lines that are short may lack up to `contestable` units; `contested()`
 * returns the unreserved units.
 */
export function withStockReservation<X extends Transaction>(
  inventory: Stock,
  owner: string,
  lines: readonly StockRequestLine[],
  begin: TransactionRunner<X>,
  contestable: Contestable | undefined
): TransactionRunner<X> & { contested(): readonly InventoryItemQuantity[] } {
  let contested: readonly InventoryItemQuantity[] = []
  const reserve = async (deadlineAt: number | undefined) => {
    const options = deadlineAt === undefined ? {} : { deadlineAt }
    try {
      contested = await inventory.reserve(owner, lines, RESERVED_SECONDS, options)
    } catch (error) {
      if (contestable === undefined || !isShort(error)) throw error
      const contest = await contestable()
      if (contest.size === 0) throw error
      contested = await inventory.reserve(owner, lines, RESERVED_SECONDS, { ...options, contest })
    }
  }
  return {
    contested: () => contested,
    transaction: async (work, options) => {
      try {
        await reserve(options?.deadlineAt)
        return await begin.transaction(work, options).catch(async error => {
          if (!isLost(error)) throw error
          await reserve(options?.deadlineAt)
          return begin.transaction(work, options)
        })
      } catch (error) {
        // The release affects reserved units and never claimed ones, so an order keeps its stock when only
        // the response to its commit was lost.
        await inventory.release(owner).catch(() => {})
        throw error
      }
    }
  }
}

const isShort = (error: unknown) => error instanceof DomainError && error.code === 'INVENTORY_SHORT'
const isLost = (error: unknown) => error instanceof DomainError && error.code === 'INVENTORY_CLAIM_LOST'
