import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { createTransactionValue } from '../../../platform/postgres/transaction-value.ts'

const TOPIC = 'inventory'
export const ALL_VARIANTS_CHANGED = 'all'
const IDS_A_MESSAGE = 200 // 7,400 of the 7,900 bytes that a message may have
const IDS_MAX = 5_000

/** Variants whose available quantity changed. */
export type VariantsWithChangedAvailability = readonly string[] | typeof ALL_VARIANTS_CHANGED
type Subscriber = {
  onChange(change: VariantsWithChangedAvailability): void
  /** Called when notifications of stock changes may have been lost, so that cached availability is dropped. */
  onGap(): void
}

/**
 * Broadcasts changes of stock policies, kits, locations and threshold crossings to every process. Ordinary
 * sales are not broadcast.
 */
export type AvailabilityChangeBroadcaster = {
  /**
   * Records changes in `tx`; may be called often. This process is invalidated after commit, others within
   * a second.
   */
  announce(tx: Transaction, change: VariantsWithChangedAvailability): void
  /**
   * Invalidates this process only, so that the buyer sees the change immediately. Others follow within a
   * second.
   */
  invalidateLocally(change: VariantsWithChangedAvailability): void
  subscribe(subscriber: Subscriber): void
  /** Returns false while changes may be missed. */
  isLive(): boolean
}

export function createAvailabilityChangeBroadcaster(broadcast: Broadcast): AvailabilityChangeBroadcaster {
  const subscribers: Subscriber[] = []
  const noteHere = (change: VariantsWithChangedAvailability) => {
    for (const subscriber of subscribers) subscriber.onChange(change)
  }
  const notifySubscribers = (message: string) =>
    noteHere(message === ALL_VARIANTS_CHANGED ? ALL_VARIANTS_CHANGED : message.split(','))
  broadcast.subscribe(TOPIC, {
    onMessage: notifySubscribers,
    onGap: () => {
      for (const subscriber of subscribers) subscriber.onGap()
    }
  })

  /** Returns the variants recorded in `tx`. The first call registers their publication at the end of `tx`. */
  const announcedIn = createTransactionValue(tx => {
    const announced = new Set<string>()
    // NOTIFY takes a database-wide lock at commit, so it is sent last.
    tx.beforeCommit(async () => {
      for (const message of messagesOf(announced)) await broadcast.publish(tx, TOPIC, message)
    })
    tx.afterCommit(() => {
      for (const message of messagesOf(announced)) notifySubscribers(message)
    })
    return announced
  })

  return {
    announce: (tx, change) => {
      const announced = announcedIn(tx)
      for (const each of change === ALL_VARIANTS_CHANGED ? [ALL_VARIANTS_CHANGED] : change)
        announced.add(each)
    },
    invalidateLocally: noteHere,
    subscribe: subscriber => subscribers.push(subscriber),
    isLive: broadcast.isLive
  }
}

function messagesOf(announced: ReadonlySet<string>): string[] {
  if (announced.has(ALL_VARIANTS_CHANGED) || announced.size > IDS_MAX) return [ALL_VARIANTS_CHANGED]
  const ids = [...announced]
  return Array.from({ length: Math.ceil(ids.length / IDS_A_MESSAGE) }, (_, index) =>
    ids.slice(index * IDS_A_MESSAGE, (index + 1) * IDS_A_MESSAGE).join(',')
  )
}
