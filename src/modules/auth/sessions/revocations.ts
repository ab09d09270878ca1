import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'

const TOPIC = 'auth'

/** What was verified for a user is not to be believed any more, or nothing is: messages may have been missed. */
type RevocationSubscriber = { onRevoked(userId: string): void; onGap(): void }

/**
 * Announces that a session ended, or that a user is disabled or has another role or password. It reaches this process
 * with the commit and all others within a second.
 */
export function createRevocations(broadcast: Broadcast) {
  const subscribers: RevocationSubscriber[] = []
  const notifySubscribers = (userId: string) => {
    for (const subscriber of subscribers) subscriber.onRevoked(userId)
  }
  broadcast.subscribe(TOPIC, {
    onMessage: notifySubscribers,
    onGap: () => {
      for (const subscriber of subscribers) subscriber.onGap()
    }
  })

  return {
    async announce(tx: Transaction, userId: string): Promise<void> {
      tx.afterCommit(() => notifySubscribers(userId))
      await broadcast.publish(tx, TOPIC, userId)
    },
    subscribe(subscriber: RevocationSubscriber): void {
      subscribers.push(subscriber)
    },
    /** While it is false, revocations may be missed. */
    isLive: () => broadcast.isLive()
  }
}
export type Revocations = ReturnType<typeof createRevocations>
