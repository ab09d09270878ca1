import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'

const TOPIC = 'pricing'

/** Tells every process that markets, promotions or taxes are others than before. */
export type Changes = {
  /** Within `tx`, as often as is handy: this process knows of it when `tx` has returned, others do within a second. */
  announce(tx: Transaction): void
  /** `onChange` is called after each change, and whenever one may have been missed. */
  subscribe(onChange: () => void): void
  /** While it is false, changes may be missed. */
  isLive(): boolean
}

export function createChanges(broadcast: Broadcast): Changes {
  const announced = new WeakSet<Transaction>()
  const subscribers: (() => void)[] = []
  const notifySubscribers = () => {
    for (const onChange of subscribers) onChange()
  }
  broadcast.subscribe(TOPIC, { onMessage: notifySubscribers, onGap: notifySubscribers })

  return {
    announce: tx => {
      if (announced.has(tx)) return
      announced.add(tx)
      // Whoever notifies takes a lock that all such commits share: as late as can be.
      tx.last(() => broadcast.publish(tx, TOPIC, ''))
      tx.afterCommit(notifySubscribers)
    },
    subscribe: onChange => subscribers.push(onChange),
    isLive: broadcast.isLive
  }
}
