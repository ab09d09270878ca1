import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Database, Transaction } from '../../../platform/postgres.ts'
import type { Write } from '../../../platform/write.ts'
import { createRepricing, REPRICED_AT_ONCE_MAX } from './prices.ts'
import * as repository from './repository.ts'

const TOPIC = 'catalog'
const ALL = 'all'
const IDS_A_MESSAGE = 200 // 7,400 of the 7,900 bytes that a message may have
const IDS_MAX = 5_000

/**
 * What a transaction that changes the catalog does last, and once: it brings lowest prices up to date, and tells all
 * processes, when it commits, whose offers are others now. Whoever does so next waits until then.
 */
export type News = {
  /** Products that this transaction holds, and variants that it deleted. */
  announce(productIds: readonly string[], goneVariantIds?: readonly string[]): Promise<void>
  /**
   * For what concerns products that others may be changing at this moment, such as a category's discount while
   * somebody puts a product there: every offer may be another now. Of more than 2,000 products the prices follow
   * soon after the commit.
   */
  announceAll(productIds: readonly string[]): Promise<void>
}

/** Which variants' offers may be others now; none when only pages are. */
type Change = readonly string[] | 'all'
type ChangeSubscriber = {
  onChange(variantIds: Change): void
  /** Changes may have passed unheard: nothing that was known is certain any more. */
  onGap(): void
}

export type Changes = {
  /** A transaction that changes the catalog. Whoever called it sees the change from then on, others within a second. */
  transaction<T>(work: (tx: Transaction, news: News) => Promise<T>): Promise<T>
  /** The same for one request: it is noted down last, because its retries look there and must not wait meanwhile. */
  write(write: Write, work: (tx: Transaction, news: News) => Promise<void>): Promise<void>
  /** Brings the lowest prices of these products up to date. */
  reprice(tx: Transaction, productIds: readonly string[]): Promise<void>
  /** Brings those of all products up to date, in the background. */
  repriceSoon(): void
  subscribe(subscriber: ChangeSubscriber): void
  /** While it is false, changes may be passing unheard. */
  isLive(): boolean
}

type Deps = { db: Database; broadcast: Broadcast; currency: string }

export function createChanges({ db, broadcast, currency }: Deps): Changes {
  const repriceSoon = createRepricing(db, currency)
  const subscribers: ChangeSubscriber[] = []
  const tell = (payload: string) => {
    const variantIds = payload === ALL ? ALL : payload.split(',').filter(id => id !== '')
    for (const subscriber of subscribers) subscriber.onChange(variantIds)
  }
  broadcast.subscribe(TOPIC, {
    onMessage: tell,
    onGap: () => {
      for (const subscriber of subscribers) subscriber.onGap()
    }
  })

  async function reprice(tx: Transaction, productIds: readonly string[]) {
    await repository.lock(tx, productIds)
    await repository.reprice(tx, productIds, currency)
  }

  function newsOf(tx: Transaction, said: string[]): News {
    const publish = async (payloads: readonly string[]) => {
      await repository.bump(tx)
      said.push(...payloads)
      for (const payload of said) await broadcast.publish(tx, TOPIC, payload)
    }
    return {
      announce: async (productIds, goneVariantIds = []) => {
        await reprice(tx, productIds)
        const ids = [...goneVariantIds, ...(await repository.listVariants(tx, productIds, IDS_MAX + 1))]
        await publish(payloadsOf(ids))
      },
      announceAll: async productIds => {
        if (productIds.length <= REPRICED_AT_ONCE_MAX) await reprice(tx, productIds)
        await publish([ALL])
      }
    }
  }

  const transaction: Changes['transaction'] = async work => {
    let said: string[] = []
    const result = await db.transaction(tx => {
      said = []
      return work(tx, newsOf(tx, said))
    })
    // The news also comes back by the broadcast, but some milliseconds after the answer to whoever made it.
    said.forEach(tell)
    if (said.includes(ALL)) repriceSoon()
    return result
  }

  return {
    transaction,
    write: (write, work) =>
      transaction(async (tx, news) => {
        await work(tx, news)
        await write.markApplied(tx)
      }),
    reprice,
    repriceSoon,
    isLive: broadcast.isLive,
    subscribe: subscriber => subscribers.push(subscriber)
  }
}

function payloadsOf(ids: readonly string[]): string[] {
  if (ids.length > IDS_MAX) return [ALL]
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
