import type { RequestClass } from '../routing/tiers.ts'
import { createAdaptiveConcurrencyLimit } from './concurrency-limit.ts'
import { REQUEST_CLASSES } from './request-classes.ts'
import { createRequestThroughputMeter } from './throughput.ts'
import { type OverloadReason, type QueuedRequest, type QueueWaitLimits, RequestQueue } from './wait-queue.ts'

/**
 * Longest wait of a request in a burst, by class. Checkouts wait longest, because a buyer whose payment is refused may not
 * return.
 */
const WAIT_LIMITS = {
  checkout: { burstMs: 2_500, longestMs: 6_000 },
  account: { burstMs: 1_100, longestMs: 4_000 },
  browse: { burstMs: 300, longestMs: 300 },
  bulk: { burstMs: 300, longestMs: 300 }
} as const satisfies Record<RequestClass, QueueWaitLimits>
/** In a standing queue, a request with a longer expected wait is refused on arrival. */
const STANDING_EXPECTED_MS = 50
/** This many requests may always wait. */
const WAITING_MIN = 8
/** Longest queue. */
const WAITING_MAX = 5_000
/** How long the network that holds the most slots is cached, in milliseconds. */
const BUSIEST_AGE_MS = 20

export type AdmissionControl = ReturnType<typeof createAdmissionControl>

/**
 * Decides which requests run and which wait. A request needs a slot from the arrival of its whole body until its response
 * is ready. Slots go by class, then by age. Bursts wait as long as their class allows; a standing queue is cut to 200 ms.
 * Under overload, requests of the network that holds the most slots are refused first and wait behind the others.
 */
export function createAdmissionControl(concurrentMax: number) {
  const limit = createAdaptiveConcurrencyLimit(concurrentMax)
  const throughput = createRequestThroughputMeter()
  const queues = REQUEST_CLASSES.map(each => new RequestQueue(WAIT_LIMITS[each]))
  const heldBy = new Map<string, number>()
  const top = { network: '', held: 0, at: 0 }
  const statistics = { used: 0, waiting: 0, waits: 0, waitedMs: 0 }
  let isAdmitting = false

  function countHeld(network: string, change: 1 | -1): void {
    const held = (heldBy.get(network) ?? 0) + change
    if (held === 0) heldBy.delete(network)
    else heldBy.set(network, held)
    if (held > top.held) Object.assign(top, { network, held })
  }

  const queueOf = (rank: number) => queues[rank] as RequestQueue
  /** Counts the requests that wait ahead of a new one of this class. */
  const waitingAhead = (rank: number) => {
    let before = 0
    for (let each = 0; each <= rank; each += 1) before += queueOf(each).length
    return before
  }

  /** Whether a new request of this class would wait too long. */
  function isFull(rank: number, now: number): boolean {
    if (statistics.waiting < WAITING_MIN) return false
    const before = waitingAhead(rank)
    const perSecond = throughput.perSecond(now)
    if (before < WAITING_MIN || perSecond === undefined) return before >= WAITING_MAX
    const queue = queueOf(rank)
    const msMax = queue.isStanding(now) ? STANDING_EXPECTED_MS : queue.waitMsMax(now, perSecond)
    return before >= Math.min(WAITING_MAX, (perSecond * msMax) / 1_000)
  }

  function busiestNetwork(now: number): typeof top {
    if (now - top.at < BUSIEST_AGE_MS) return top
    Object.assign(top, { network: '', held: 0, at: now })
    for (const [network, held] of heldBy) if (held > top.held) Object.assign(top, { network, held })
    return top
  }

  /** Whether another network holds at least two more slots. Then requests of this network are not refused first. */
  const holdsFewerThanBusiest = (network: string, now: number) => {
    const most = busiestNetwork(now)
    return most.network !== network && most.held > (heldBy.get(network) ?? 0) + 1
  }

  /** Refuses the newest waiting request of the busiest network, of this class or a lower one. */
  function refuseFromBusiest(rank: number, now: number): boolean {
    const { network } = busiestNetwork(now)
    top.held -= 1
    for (let each = REQUEST_CLASSES.length - 1; each >= rank; each -= 1) {
      const chosen = queueOf(each).removeNewest(network)
      if (chosen === undefined) continue
      refuseQueued(chosen, each, { reason: 'share', now })
      return true
    }
    return false
  }

  function refuseQueued(
    request: QueuedRequest,
    rank: number,
    { reason, now }: { reason: OverloadReason; now: number }
  ): void {
    statistics.waiting -= 1
    countHeld(request.network, -1)
    queueOf(rank).noteRefusal(now)
    request.refuse(reason)
  }

  /** Refuses requests that have waited too long, or will. */
  function refuseLate(rank: number, now: number): void {
    const queue = queueOf(rank)
    const perSecond = throughput.perSecond(now)
    for (const late of queue.removeExpired(now, perSecond)) refuseQueued(late, rank, { reason: 'wait', now })
    if (perSecond === undefined) return
    const before = waitingAhead(rank) - queue.length
    let expiring = queue.countExpiring(now, { before, perSecond })
    for (; expiring > 0; expiring -= 1) {
      const { network } = busiestNetwork(now)
      top.held -= 1
      const chosen = queue.removeNewest(network) ?? queue.removeLast()
      if (chosen !== undefined) refuseQueued(chosen, rank, { reason: 'wait', now })
    }
    queue.keepDecided(now)
  }

  /** Admits waiting requests while slots are free. A request may complete within this call, which then calls it again. */
  function admitWaiting(now: number): void {
    if (isAdmitting) return
    isAdmitting = true
    try {
      while (statistics.waiting > 0 && statistics.used < limit.value()) {
        const rank = queues.findIndex(queue => queue.length > 0)
        const first = queueOf(rank).next() as NonNullable<ReturnType<RequestQueue['next']>>
        const waitedMs = now - first.since
        if (!first.isKept && waitedMs > queueOf(rank).waitMsMax(now, throughput.perSecond(now))) {
          refuseQueued(first.request, rank, { reason: 'wait', now })
          continue
        }
        statistics.waiting -= 1
        statistics.used += 1
        statistics.waits += 1
        statistics.waitedMs += waitedMs
        first.request.admit()
      }
    } finally {
      isAdmitting = false
    }
  }

  return {
    /** For `/metrics`. */
    statistics: () => ({ ...statistics, slots: limit.value() }),

    /** Whether requests may have to be refused. A cheap check for every request. */
    mayRefuse: (): boolean => statistics.waiting >= WAITING_MIN,

    /** Whether the request listener should refuse a request before its body is read. */
    wouldRefuse(requestClass: RequestClass, network: string, now: number): boolean {
      const rank = REQUEST_CLASSES.indexOf(requestClass)
      if (!isFull(rank, now) || holdsFewerThanBusiest(network, now)) return false
      queueOf(rank).noteRefusal(now)
      return true
    },

    /** Admits or refuses the request, immediately or after a wait. */
    enter(request: QueuedRequest, now: number): void {
      const rank = REQUEST_CLASSES.indexOf(request.class)
      if (statistics.waiting === 0 && statistics.used < limit.value()) {
        statistics.used += 1
        countHeld(request.network, 1)
        request.admit()
        return
      }
      limit.noteReached()
      const isSmaller = holdsFewerThanBusiest(request.network, now)
      if (isFull(rank, now) && !(isSmaller && refuseFromBusiest(rank, now))) {
        queueOf(rank).noteRefusal(now)
        request.refuse('queue')
        return
      }
      countHeld(request.network, 1)
      statistics.waiting += 1
      queueOf(rank).add(request, now, isSmaller ? busiestNetwork(now).network : undefined)
      admitWaiting(now)
    },

    /** Releases the slot of a request that was admitted at `admittedAt`. */
    release(request: QueuedRequest, admittedAt: number, now: number): void {
      limit.sample(admittedAt, now)
      throughput.completed()
      statistics.used -= 1
      countHeld(request.network, -1)
      admitWaiting(now)
    },

    /** Releases the slot while the request waits for an external service or an earlier try. */
    pause(request: QueuedRequest, now: number): void {
      statistics.used -= 1
      countHeld(request.network, -1)
      admitWaiting(now)
    },
    /** Takes a slot again without queueing, even if that exceeds the limit briefly. */
    resume(request: QueuedRequest): void {
      statistics.used += 1
      countHeld(request.network, 1)
    },

    /** Called every 50 ms while there are requests. */
    tick(now: number): void {
      throughput.tick(now, statistics.waiting > 0)
      for (const [rank, queue] of queues.entries()) {
        queue.tick(now, throughput.perSecond(now))
        refuseLate(rank, now)
      }
      limit.adjust(now)
      admitWaiting(now)
    }
  }
}
