import type { Broadcast } from '../../../platform/broadcast.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { CHANGED_VARIANTS_MAX, pricesChanged } from '../events.ts'

const TOPIC = 'prices'
const ALL = 'all'
const IDS_MAX = 200 // 7,400 of the 7,900 bytes that a message may have

type Change = readonly string[] | typeof ALL
type Subscriber = (variantIds: Change) => void

/** Tells every process, and whoever hears of events, which variants have other prices in some list. */
export type PriceChanges = {
  /** Within `tx`, as often as is handy: this process knows of it when `tx` has returned, others do within a second. */
  announce(tx: Transaction, listId: string, variantIds: Change): void
  /** Called after each change, and with all whenever one may have been missed. */
  subscribe(onChange: Subscriber): void
  /** While it is false, changes may be missed. */
  isLive(): boolean
}

/** What one run of a transaction has announced so far: of each list its variants; `null`: any of them. */
type Announced = Map<string, Set<string> | null>

export function createPriceChanges({ broadcast, emit }: { broadcast: Broadcast; emit: Emit }): PriceChanges {
  const announcedBy = new WeakMap<Transaction, Announced>()
  const subscribers: Subscriber[] = []
  const notifySubscribers = (message: string) => {
    for (const onChange of subscribers) onChange(message === ALL ? ALL : message.split(','))
  }
  broadcast.subscribe(TOPIC, { onMessage: notifySubscribers, onGap: () => notifySubscribers(ALL) })

  /** What `tx` has announced; the first time it also arranges what follows from that at its end. */
  function announcedIn(tx: Transaction): Announced {
    const present = announcedBy.get(tx)
    if (present !== undefined) return present
    const announced: Announced = new Map()
    announcedBy.set(tx, announced)
    // Whoever notifies takes a lock that all such commits share: as late as can be.
    tx.last(() => {
      for (const [listId, ids] of announced)
        emit(tx, pricesChanged, listId, { list_id: listId, variant_ids: ids && [...ids] })
      return broadcast.publish(tx, TOPIC, messageOf(announced))
    })
    tx.afterCommit(() => notifySubscribers(messageOf(announced)))
    return announced
  }

  return {
    announce: (tx, listId, variantIds) => {
      const announced = announcedIn(tx)
      const before = announced.get(listId)
      if (before === null) return
      const ids = variantIds === ALL ? null : new Set([...(before ?? []), ...variantIds])
      announced.set(listId, ids !== null && ids.size <= CHANGED_VARIANTS_MAX ? ids : null)
    },
    subscribe: onChange => subscribers.push(onChange),
    isLive: broadcast.isLive
  }
}

function messageOf(announced: Announced): string {
  const all = [...announced.values()]
  const ids = new Set(all.flatMap(each => [...(each ?? [])]))
  return all.includes(null) || ids.size > IDS_MAX ? ALL : [...ids].join(',')
}
