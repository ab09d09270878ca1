import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { catalogChanged, EVERYTHING, productChanged } from '../events.ts'
import { type LowestPrices, REPRICED_AT_ONCE_MAX } from './prices.ts'
import * as repository from './repository.ts'

const TOPIC = 'catalog'
const ALL = 'all'
const IDS_A_MESSAGE = 200 // 7,400 of the 7,900 bytes that a message may have
const IDS_MAX = 5_000

/** Which variants' offers may be others now; none when only pages are. */
type Change = readonly string[] | 'all'
type ChangeSubscriber = {
  onChange(variantIds: Change): void
  /** Changes may have been missed: nothing that was known is certain any more. */
  onGap(): void
}

export type Changes = {
  /**
   * To be called after the catalog was changed within `tx`, as often as is handy: brings the lowest prices of these
   * products up to date and drops, at the commit, what processes have cached. This one has dropped it when `tx` has
   * returned, others do within a second. For products that `tx` has locked, and variants that it deleted.
   */
  announce(
    tx: Transaction,
    productIds: readonly string[],
    deletedVariantIds?: readonly string[]
  ): Promise<void>
  /**
   * For changes of a category, or of its discount, while another transaction may put a product there: every offer may
   * have changed. The prices of more than 2,000 products, and of those put there meanwhile, follow by a job.
   */
  announceCategory(tx: Transaction, categoryId: string, productIds: readonly string[]): Promise<void>
  /** For what only pages of the catalog show: what processes have cached of these is dropped at the commit. */
  announcePages(tx: Transaction): void
  subscribe(subscriber: ChangeSubscriber): void
  /** While it is false, changes may be missed. */
  isLive(): boolean
}

/** What one run of a transaction has announced so far; `null`: any offer, any product may be another. */
type Announced = { variantIds: Set<string> | null; productIds: Set<string> | null }
type Deps = { broadcast: Broadcast; emit: Emit; lowestPrices: LowestPrices }

export function createChanges({ broadcast, emit, lowestPrices }: Deps): Changes {
  const announcedBy = new WeakMap<Transaction, Announced>()
  const subscribers: ChangeSubscriber[] = []
  const notifySubscribers = (message: string) => {
    const variantIds = message === ALL ? ALL : message.split(',').filter(id => id !== '')
    for (const subscriber of subscribers) subscriber.onChange(variantIds)
  }
  broadcast.subscribe(TOPIC, {
    onMessage: notifySubscribers,
    onGap: () => {
      for (const subscriber of subscribers) subscriber.onGap()
    }
  })

  async function reprice(tx: Transaction, productIds: readonly string[]) {
    await tx.run(repository.lockProducts, { ids: productIds })
    await lowestPrices.reprice(tx, productIds)
  }

  /** What `tx` has announced; the first time it also arranges what follows from that at its end. */
  function announcedIn(tx: Transaction): Announced {
    const present = announcedBy.get(tx)
    if (present !== undefined) return present
    const announced: Announced = { variantIds: new Set(), productIds: new Set() }
    announcedBy.set(tx, announced)
    // Every change of the catalog raises the one revision, so they wait for each other here: as late as can be.
    tx.last(async () => {
      await tx.run(repository.raiseRevision)
      for (const message of messagesOf(announced)) await broadcast.publish(tx, TOPIC, message)
      if (announced.productIds === null) emit(tx, catalogChanged, EVERYTHING, {})
      for (const id of announced.productIds ?? []) emit(tx, productChanged, id, { product_id: id })
    })
    // The messages come back to this process too, but some milliseconds after the answer to whoever made the change.
    tx.afterCommit(() => {
      for (const message of messagesOf(announced)) notifySubscribers(message)
    })
    return announced
  }

  return {
    announce: async (tx, productIds, deletedVariantIds = []) => {
      await reprice(tx, productIds)
      const announced = announcedIn(tx)
      for (const id of productIds) announced.productIds?.add(id)
      if (announced.variantIds === null) return
      const rows = await tx.rows(repository.listVariants, { productIds, limit: IDS_MAX + 1 })
      for (const { id } of rows) announced.variantIds.add(id)
      for (const id of deletedVariantIds) announced.variantIds.add(id)
      if (announced.variantIds.size > IDS_MAX) announced.variantIds = null
    },
    announceCategory: async (tx, categoryId, productIds) => {
      if (productIds.length <= REPRICED_AT_ONCE_MAX) await reprice(tx, productIds)
      else lowestPrices.refreshListsSoon(tx)
      lowestPrices.repriceWithStragglers(tx, categoryId)
      Object.assign(announcedIn(tx), { variantIds: null, productIds: null })
    },
    announcePages: tx => {
      announcedIn(tx)
    },
    isLive: broadcast.isLive,
    subscribe: subscriber => subscribers.push(subscriber)
  }
}

function messagesOf({ variantIds }: Announced): string[] {
  if (variantIds === null) return [ALL]
  const ids = [...variantIds]
  const messages = Math.max(1, Math.ceil(ids.length / IDS_A_MESSAGE))
  return Array.from({ length: messages }, (_, index) =>
    ids.slice(index * IDS_A_MESSAGE, (index + 1) * IDS_A_MESSAGE).join(',')
  )
}

// The clocks of this process and of the database may drift apart, and ours may stand still while a machine sleeps.
const TRUSTED_SECONDS = 3_600

/**
 * Until when, on the monotonic clock, something may be kept that was asked for at `startedAt` and changes in
 * `seconds` (`null`: not by itself), as the database's clock says.
 */
export const deadlineOf = (startedAt: number, seconds: number | null): number =>
  startedAt + Math.min(seconds ?? TRUSTED_SECONDS, TRUSTED_SECONDS) * 1_000
