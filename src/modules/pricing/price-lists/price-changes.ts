import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { createTransactionValue } from '../../../platform/postgres/transaction-value.ts'
import { CHANGED_VARIANTS_PER_EVENT_MAX, pricesChangedEvent } from '../events.ts'

const TOPIC = 'prices'
const ALL = 'all'
const IDS_MAX = 200 // 7,400 of the 7,900 bytes that a message may have

type ChangedVariants = readonly string[] | typeof ALL
type Subscriber = (variantIds: ChangedVariants) => void

/** Publishes changed prices of lists: to every process, and as an event. */
export type PriceChangeBroadcaster = {
  /**
   * Records changes in `tx`; may be called often. This process is notified after commit, others within a
   * second.
   */
  announce(tx: Transaction, listId: string, variantIds: ChangedVariants): void
  /**
   * Registers a listener that is called after each price change, and with `all` when a change may have been
   * missed.
   */
  subscribe(onChange: Subscriber): void
  /** Returns false while changes may be missed. */
  isLive(): boolean
}

/** Changes recorded in a transaction: variants by list; `null`: any variant. */
type AnnouncedChanges = Map<string, Set<string> | null>

export function createPriceChangeBroadcaster({
  broadcast,
  emit
}: {
  broadcast: Broadcast
  emit: Emit
}): PriceChangeBroadcaster {
  const subscribers: Subscriber[] = []
  const notifySubscribers = (message: string) => {
    for (const onChange of subscribers) onChange(message === ALL ? ALL : message.split(','))
  }
  broadcast.subscribe(TOPIC, { onMessage: notifySubscribers, onGap: () => notifySubscribers(ALL) })

  /** Returns the changes recorded in `tx`. The first call registers their publication at the end of `tx`. */
  const announcedIn = createTransactionValue(tx => {
    const announced: AnnouncedChanges = new Map()
    // NOTIFY takes a database-wide lock at commit, so it is sent last.
    tx.beforeCommit(() => {
      for (const [listId, ids] of announced)
        emit(tx, pricesChangedEvent, listId, { list_id: listId, variant_ids: ids && [...ids] })
      return broadcast.publish(tx, TOPIC, messageOf(announced))
    })
    tx.afterCommit(() => notifySubscribers(messageOf(announced)))
    return announced
  })

  return {
    announce: (tx, listId, variantIds) => {
      const announced = announcedIn(tx)
      const before = announced.get(listId)
      if (before === null) return
      const ids = variantIds === ALL ? null : new Set([...(before ?? []), ...variantIds])
      announced.set(listId, ids !== null && ids.size <= CHANGED_VARIANTS_PER_EVENT_MAX ? ids : null)
    },
    subscribe: onChange => subscribers.push(onChange),
    isLive: broadcast.isLive
  }
}

function messageOf(announced: AnnouncedChanges): string {
  const all = [...announced.values()]
  const ids = new Set(all.flatMap(each => [...(each ?? [])]))
  return all.includes(null) || ids.size > IDS_MAX ? ALL : [...ids].join(',')
}
