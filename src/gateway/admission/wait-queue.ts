import type { RequestClass } from '../routing/tiers.ts'

/** Longest wait in a standing queue. */
const STANDING_MS = 200
/** After this wait, requests that will exceed their limit are refused, instead of later. */
const DECISION_MS = 600
/** A queue without refusals for this time is no longer standing. */
const RECOVERED_MS = 1_000

/** `queue`: the queue was full. `wait`: it waited too long. `share`: its network held the most slots. */
export type OverloadReason = 'queue' | 'wait' | 'share'

/** A request that needs a slot. */
export type QueuedRequest = {
  readonly class: RequestClass
  /** Network of the caller. */
  readonly network: string
  /** Called when the request gets a slot. */
  admit(): void
  /** Called when the request is refused, because it gets no slot. */
  refuse(reason: OverloadReason): void
}
type QueueEntry = {
  readonly request: QueuedRequest
  readonly since: number
  /** The request reached the decision time and will be in time, so its wait is no longer a reason to refuse it. */
  isKept: boolean
}
/** Longest waits of requests of one class, in milliseconds. */
export type QueueWaitLimits = {
  /** Longest wait in a burst of any size. */
  readonly burstMs: number
  /** Longest wait in a burst of `BURST_REQUESTS`. */
  readonly longestMs: number
}
/** Requests that arrive simultaneously at an idle process and are all served, if `longestMs` is enough. */
const BURST_REQUESTS = 300

/**
 * The queue of one class. A burst may wait as long as its class allows. If during all of that time some request has waited
 * for more than 200 ms, it is a standing queue (CoDel, RFC 8289). Such a queue adds delay without keeping slots busy.
 * Requests are then refused after 200 ms until the queue has recovered.
 */
export class RequestQueue {
  readonly #limits: QueueWaitLimits
  #waiting: QueueEntry[] = []
  #slowSince: number | undefined
  #standingUntil = Number.NEGATIVE_INFINITY

  constructor(limits: QueueWaitLimits) {
    this.#limits = limits
  }

  get length(): number {
    return this.#waiting.length
  }

  isStanding(now: number): boolean {
    return now < this.#standingUntil
  }

  /** Returns the longest wait at this throughput; `perSecond` is `undefined` while unknown. */
  waitMsMax(now: number, perSecond: number | undefined): number {
    return this.isStanding(now) ? STANDING_MS : this.#burstMs(perSecond)
  }

  #burstMs(perSecond: number | undefined): number {
    const { burstMs, longestMs } = this.#limits
    if (perSecond === undefined) return longestMs
    return Math.min(longestMs, Math.max(burstMs, (BURST_REQUESTS / perSecond) * 1_000))
  }

  /** Adds a request at the end, or before the requests of the network `before`. */
  add(request: QueuedRequest, now: number, before: string | undefined): void {
    const entry = { request, since: now, isKept: false }
    const at = before === undefined ? -1 : this.#waiting.findIndex(each => each.request.network === before)
    if (at < 0) this.#waiting.push(entry)
    else this.#waiting.splice(at, 0, entry)
  }

  next(): QueueEntry | undefined {
    return this.#waiting.shift()
  }

  /** Removes the newest request of a network. */
  removeNewest(network: string): QueuedRequest | undefined {
    const at = this.#waiting.findLastIndex(({ request }) => request.network === network)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]?.request
  }

  removeLast(): QueuedRequest | undefined {
    return this.#waiting.pop()?.request
  }

  /** Removes the requests that have waited too long. */
  removeExpired(now: number, perSecond: number | undefined): QueuedRequest[] {
    const msMax = this.waitMsMax(now, perSecond)
    const isLate = ({ since, isKept }: QueueEntry) => !isKept && now - since > msMax
    const late = this.#waiting.filter(isLate)
    if (late.length > 0) this.#waiting = this.#waiting.filter(each => !isLate(each))
    return late.map(({ request }) => request)
  }

  /**
   * Counts the requests at their decision time that will exceed their limit, at this throughput and with `before` requests
   * ahead of this queue.
   */
  countExpiring(now: number, { before, perSecond }: { before: number; perSecond: number }): number {
    const msMax = this.waitMsMax(now, perSecond)
    return this.#waiting.filter(
      (each, at) => isDue(each, now) && now - each.since + ((before + at + 1) / perSecond) * 1_000 > msMax
    ).length
  }

  /** Marks the remaining requests at their decision time as in time, so that they are not refused later for waiting. */
  keepDecided(now: number): void {
    for (const each of this.#waiting) each.isKept ||= isDue(each, now)
  }

  /** Prolongs a standing queue after a refusal. */
  noteRefusal(now: number): void {
    if (this.isStanding(now)) this.#standingUntil = now + RECOVERED_MS
  }

  /** Detects a standing queue. Called every 50 ms. */
  tick(now: number, perSecond: number | undefined): void {
    const oldest = this.#waiting.reduce((oldest, { since }) => Math.min(oldest, since), now)
    if (now - oldest <= STANDING_MS) {
      this.#slowSince = undefined
      return
    }
    this.#slowSince ??= oldest + STANDING_MS
    if (now - this.#slowSince >= this.#burstMs(perSecond) - STANDING_MS)
      this.#standingUntil = now + RECOVERED_MS
  }
}

const isDue = ({ since, isKept }: QueueEntry, now: number) => !isKept && now - since >= DECISION_MS
