import { DomainError } from '../../../kernel/errors.ts'
import type { Transaction, Transactions } from '../../../platform/postgres/database.ts'
import type { InventoryApi, StockPart } from '../../inventory/index.ts'
import type { Line } from '../checkouts/lines.ts'

type Stock = Pick<InventoryApi, 'reserve' | 'release'>
/** Units of items that the order may contest. */
type Contestable = () => Promise<ReadonlyMap<string, number>>

/** So long stock is held for an order that is being placed; a process that died gives it back by that. */
const HELD_SECONDS = 120

/**
 * Where transactions begin for which stock is held, so that they wait for nobody who wants the same: they claim it. What they do
 * not claim, because they fail, is given back before their caller knows. When it was given back before they came to it, it is
 * held once more. Of lines that are short, `contestable` units need not be held: `contested` says which were not.
 */
export function holding<X extends Transaction>(
  inventory: Stock,
  owner: string,
  lines: readonly Line[],
  begin: Transactions<X>,
  contestable: Contestable | undefined
): Transactions<X> & { contested(): readonly StockPart[] } {
  let contested: readonly StockPart[] = []
  const reserve = async (deadlineAt: number | undefined) => {
    const options = deadlineAt === undefined ? {} : { deadlineAt }
    try {
      contested = await inventory.reserve(owner, lines, HELD_SECONDS, options)
    } catch (error) {
      if (contestable === undefined || !isShort(error)) throw error
      const contest = await contestable()
      if (contest.size === 0) throw error
      contested = await inventory.reserve(owner, lines, HELD_SECONDS, { ...options, contest })
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
        // It gives back what is held, and never what is claimed: a commit whose answer was lost keeps its stock.
        await inventory.release(owner).catch(() => {})
        throw error
      }
    }
  }
}

const isShort = (error: unknown) => error instanceof DomainError && error.code === 'INVENTORY_SHORT'
const isLost = (error: unknown) => error instanceof DomainError && error.code === 'INVENTORY_CLAIM_LOST'
