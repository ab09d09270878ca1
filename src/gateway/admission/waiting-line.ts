import type { RequestClass } from '../routing/tiers.ts'

/** In a queue that stands, no request waits longer. */
const STANDING_MS = 200
/** Requests that have waited for so long and will be late are refused then, and not when they are. */
const JUDGED_MS = 600
/** A queue in which no request was refused for so long stands no more. */
const RECOVERED_MS = 1_000

/** `queue`: there were too many before it. `wait`: its turn did not come in time. `share`: its address held most. */
export type Refusal = 'queue' | 'wait' | 'share'

/** A request that wants a place. */
export type Applicant = {
  readonly class: RequestClass
  /** The caller's address, or network. */
  readonly network: string
  /** It has a place now. */
  admit(): void
  /** It gets none. */
  refuse(reason: Refusal): void
}
type Waiting = {
  readonly applicant: Applicant
  readonly since: number
  /** It was old enough to be judged, and will be in time: waiting is no reason to refuse it any more. */
  isKept: boolean
}
/** How long the requests of a class may wait. */
export type Patience = {
  /** A burst, however large, */
  readonly burstMs: number
  /** and one of `BURST_REQUESTS`, which may take longer. */
  readonly longestMs: number
}
/** So many requests that arrive simultaneously at an idle process are served, where `longestMs` is enough for that. */
const BURST_REQUESTS = 300

/**
 * The requests of one class that wait for a place, the next one first. A burst may wait as long as its class allows. When
 * some request has always waited for more than 200 ms for as long as that, the queue stands (the rule of CoDel, RFC 8289): it
 * adds delay and keeps no place busy that would be idle, so requests are refused after 200 ms until it has recovered.
 */
export class WaitingLine {
  readonly #patience: Patience
  #waiting: Waiting[] = []
  #slowSince: number | undefined
  #standsUntil = Number.NEGATIVE_INFINITY

  constructor(patience: Patience) {
    this.#patience = patience
  }

  get length(): number {
    return this.#waiting.length
  }

  stands(now: number): boolean {
    return now < this.#standsUntil
  }

  /** How long a request may wait, when so many are done a second; `undefined` while that is not known. */
  waitMsMax(now: number, perSecond: number | undefined): number {
    return this.stands(now) ? STANDING_MS : this.#burstMs(perSecond)
  }

  #burstMs(perSecond: number | undefined): number {
    const { burstMs, longestMs } = this.#patience
    if (perSecond === undefined) return longestMs
    return Math.min(longestMs, Math.max(burstMs, (BURST_REQUESTS / perSecond) * 1_000))
  }

  /** Adds a request: at the end, or before the requests of the network that holds too much. */
  add(applicant: Applicant, now: number, before: string | undefined): void {
    const waiting = { applicant, since: now, isKept: false }
    const at = before === undefined ? -1 : this.#waiting.findIndex(each => each.applicant.network === before)
    if (at < 0) this.#waiting.push(waiting)
    else this.#waiting.splice(at, 0, waiting)
  }

  next(): Waiting | undefined {
    return this.#waiting.shift()
  }

  /** The newest of a network, which waits no more. */
  removeNewest(network: string): Applicant | undefined {
    const at = this.#waiting.findLastIndex(({ applicant }) => applicant.network === network)
    return at < 0 ? undefined : this.#waiting.splice(at, 1)[0]?.applicant
  }

  removeLast(): Applicant | undefined {
    return this.#waiting.pop()?.applicant
  }

  /** Those that have waited for too long, which wait no more. */
  removeLate(now: number, perSecond: number | undefined): Applicant[] {
    const msMax = this.waitMsMax(now, perSecond)
    const isLate = ({ since, isKept }: Waiting) => !isKept && now - since > msMax
    const late = this.#waiting.filter(isLate)
    if (late.length > 0) this.#waiting = this.#waiting.filter(each => !isLate(each))
    return late.map(({ applicant }) => applicant)
  }

  /**
   * How many of those that have waited for long enough to be judged will be late when `perSecond` requests are done a
   * second, and so many are before this line.
   */
  countLate(now: number, { before, perSecond }: { before: number; perSecond: number }): number {
    const msMax = this.waitMsMax(now, perSecond)
    return this.#waiting.filter(
      (each, at) => isToJudge(each, now) && now - each.since + ((before + at + 1) / perSecond) * 1_000 > msMax
    ).length
  }

  /** Notes that the others are in time: a request is refused within a second, or not for its waiting. */
  keepJudged(now: number): void {
    for (const each of this.#waiting) each.isKept ||= isToJudge(each, now)
  }

  /** Notes that a request was refused. */
  refused(now: number): void {
    if (this.stands(now)) this.#standsUntil = now + RECOVERED_MS
  }

  /** Looks whether the queue stands. Called every 50 ms. */
  tick(now: number, perSecond: number | undefined): void {
    const oldest = this.#waiting.reduce((oldest, { since }) => Math.min(oldest, since), now)
    if (now - oldest <= STANDING_MS) {
      this.#slowSince = undefined
      return
    }
    this.#slowSince ??= oldest + STANDING_MS
    if (now - this.#slowSince >= this.#burstMs(perSecond) - STANDING_MS)
      this.#standsUntil = now + RECOVERED_MS
  }
}

const isToJudge = ({ since, isKept }: Waiting, now: number) => !isKept && now - since >= JUDGED_MS
