import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'

const TOPIC = 'auth'

/**
 * Callbacks of a cache of verified tokens. `onRevoked`: discard the tokens of a user. `onGap`: discard all
 * tokens, because messages may have been missed.
 */
type RevocationSubscriber = { onRevoked(userId: string): void; onGap(): void }

/**
 * Publishes that a session ended, or that a user was disabled or has a new role or password. This process is notified at
 * commit, others within a second.
 */
export function createSessionRevocationChannel(broadcast: Broadcast) {
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
    /** Whether messages about revocations arrive. While false, they may be missed. */
    isLive: () => broadcast.isLive()
  }
}
export type SessionRevocationChannel = ReturnType<typeof createSessionRevocationChannel>
