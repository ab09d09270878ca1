import { singleFlight } from '../kernel/single-flight.ts'
import type { Broadcast } from './broadcast.ts'
import type { Transaction } from './postgres/transaction.ts'

/** Tells every process that something, which they keep as a whole, is another than before. */
export type Changes = {
  /** Within `tx`, as often as is handy: this process knows of it when `tx` has returned, others do within a second. */
  announce(tx: Transaction): void
  /** `onChange` is called after each change, and whenever one may have been missed. */
  subscribe(onChange: () => void): void
  /** While it is false, changes may be missed. */
  isLive(): boolean
}

/** `topic`: what it is that changes, by a name that nobody else uses. */
export function createChanges(broadcast: Broadcast, topic: string): Changes {
  const announced = new WeakSet<Transaction>()
  const subscribers: (() => void)[] = []
  const notifySubscribers = () => {
    for (const onChange of subscribers) onChange()
  }
  broadcast.subscribe(topic, { onMessage: notifySubscribers, onGap: notifySubscribers })

  return {
    announce: tx => {
      if (announced.has(tx)) return
      announced.add(tx)
      // Whoever notifies takes a lock that all such commits share: as late as can be.
      tx.last(() => broadcast.publish(tx, topic, ''))
      tx.afterCommit(notifySubscribers)
    },
    subscribe: onChange => subscribers.push(onChange),
    isLive: broadcast.isLive
  }
}

/**
 * What `load` reads, kept in this process until somebody changes it. Whoever asks at the same time shares one reading.
 * While changes may be missed, nothing is kept.
 */
export function keep<T>(
  { subscribe, isLive }: Pick<Changes, 'subscribe' | 'isLive'>,
  load: () => Promise<T>
) {
  const loadOnce = singleFlight<T>()
  let known: { readonly value: T } | undefined
  let generation = 0
  subscribe(() => {
    generation += 1
    known = undefined
  })

  async function loadAndKeep(): Promise<T> {
    const generationBefore = generation
    const value = await load()
    // What was read before a change, and arrives after its announcement, is already old.
    if (generation === generationBefore && isLive()) known = { value }
    return value
  }

  return async (): Promise<T> =>
    known !== undefined && isLive() ? known.value : loadOnce(String(generation), loadAndKeep)
}
