import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'

const TOPIC = 'prices'
const ALL = 'all'
const IDS_MAX = 200 // 7,400 of the 7,900 bytes that a message may have

type Change = readonly string[] | typeof ALL
type Subscriber = (variantIds: Change) => void

/** Tells every process which variants have other prices in some list. */
export type PriceChanges = {
  /** Within `tx`, as often as is handy: this process knows of it when `tx` has returned, others do within a second. */
  announce(tx: Transaction, variantIds: Change): void
  /** Called after each change, and with all whenever one may have been missed. */
  subscribe(onChange: Subscriber): void
  /** While it is false, changes may be missed. */
  isLive(): boolean
}

export function createPriceChanges(broadcast: Broadcast): PriceChanges {
  const announcedBy = new WeakMap<Transaction, Set<string>>()
  const subscribers: Subscriber[] = []
  const notifySubscribers = (message: string) => {
    for (const onChange of subscribers) onChange(message === ALL ? ALL : message.split(','))
  }
  broadcast.subscribe(TOPIC, { onMessage: notifySubscribers, onGap: () => notifySubscribers(ALL) })

  return {
    announce: (tx, variantIds) => {
      const ids = new Set(variantIds === ALL ? [] : variantIds)
      const message = variantIds === ALL || ids.size > IDS_MAX ? ALL : [...ids].join(',')
      const announced = announcedBy.get(tx) ?? new Set()
      announcedBy.set(tx, announced)
      if (announced.has(message)) return
      announced.add(message)
      // Whoever notifies takes a lock that all such commits share: as late as can be.
      tx.last(() => broadcast.publish(tx, TOPIC, message))
      tx.afterCommit(() => notifySubscribers(message))
    },
    subscribe: onChange => subscribers.push(onChange),
    isLive: broadcast.isLive
  }
}
