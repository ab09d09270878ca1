import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'

const TOPIC = 'inventory'
export const ALL = 'all'
const IDS_A_MESSAGE = 200 // 7,400 of the 7,900 bytes that a message may have
const IDS_MAX = 5_000

/** Of which variants something else can be bought now. */
export type Change = readonly string[] | typeof ALL
type Subscriber = {
  onChange(change: Change): void
  /** Changes may have been missed. */
  onGap(): void
}

/**
 * Tells every process of what is counted otherwise than before, of kits and locations that changed, and of what ran out or
 * came back; of a mere sale it does not.
 */
export type Changes = {
  /** Within `tx`, as often as is handy: this process knows of it when `tx` has returned, others do within a second. */
  announce(tx: Transaction, change: Change): void
  /** Tells this process alone, at once: whoever buys sees it, and for all others a second is soon enough. */
  noteHere(change: Change): void
  subscribe(subscriber: Subscriber): void
  /** While it is false, changes may be missed. */
  isLive(): boolean
}

export function createChanges(broadcast: Broadcast): Changes {
  const announcedBy = new WeakMap<Transaction, Set<string>>()
  const subscribers: Subscriber[] = []
  const noteHere = (change: Change) => {
    for (const subscriber of subscribers) subscriber.onChange(change)
  }
  const notifySubscribers = (message: string) => noteHere(message === ALL ? ALL : message.split(','))
  broadcast.subscribe(TOPIC, {
    onMessage: notifySubscribers,
    onGap: () => {
      for (const subscriber of subscribers) subscriber.onGap()
    }
  })

  /** What `tx` has announced; the first time it also arranges what follows from that at its end. */
  function announcedIn(tx: Transaction): Set<string> {
    const present = announcedBy.get(tx)
    if (present !== undefined) return present
    const announced = new Set<string>()
    announcedBy.set(tx, announced)
    // Whoever notifies takes a lock that all such commits share: as late as can be.
    tx.last(async () => {
      for (const message of messagesOf(announced)) await broadcast.publish(tx, TOPIC, message)
    })
    tx.afterCommit(() => {
      for (const message of messagesOf(announced)) notifySubscribers(message)
    })
    return announced
  }

  return {
    announce: (tx, change) => {
      const announced = announcedIn(tx)
      for (const each of change === ALL ? [ALL] : change) announced.add(each)
    },
    noteHere,
    subscribe: subscriber => subscribers.push(subscriber),
    isLive: broadcast.isLive
  }
}

function messagesOf(announced: ReadonlySet<string>): string[] {
  if (announced.has(ALL) || announced.size > IDS_MAX) return [ALL]
  const ids = [...announced]
  return Array.from({ length: Math.ceil(ids.length / IDS_A_MESSAGE) }, (_, index) =>
    ids.slice(index * IDS_A_MESSAGE, (index + 1) * IDS_A_MESSAGE).join(',')
  )
}
