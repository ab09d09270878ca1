import type { RequestClass } from '../routing/tiers.ts'

/** In a queue that stands, no request waits longer. */
const STANDING_MS = 200
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
type Waiting = { readonly applicant: Applicant; readonly since: number }

/**
 * The requests of one class that wait for a place, the next one first. A burst may wait for `burstMs`. When some request
 * has always waited for more than 200 ms for as long as that, the queue stands (the rule of CoDel, RFC 8289): it adds
 * delay and keeps no place busy that would be idle, so requests are refused after 200 ms until it has recovered.
 */
export class WaitingLine {
  readonly #burstMs: number
  #waiting: Waiting[] = []
  #slowSince: number | undefined
  #standsUntil = Number.NEGATIVE_INFINITY

  constructor(burstMs: number) {
    this.#burstMs = burstMs
  }

  get length(): number {
    return this.#waiting.length
  }

  stands(now: number): boolean {
    return now < this.#standsUntil
  }

  /** How long a request may wait. */
  waitMsMax(now: number): number {
    return this.stands(now) ? STANDING_MS : this.#burstMs
  }

  /** Adds a request: at the end, or before the requests of the network that holds too much. */
  add(applicant: Applicant, now: number, before: string | undefined): void {
    const waiting = { applicant, since: now }
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
  removeLate(now: number): Applicant[] {
    const msMax = this.waitMsMax(now)
    const late = this.#waiting.filter(({ since }) => now - since > msMax)
    if (late.length > 0) this.#waiting = this.#waiting.filter(({ since }) => now - since <= msMax)
    return late.map(({ applicant }) => applicant)
  }

  /** How many have waited for `waitedMs` and will be late when so many before them, and in this line, are done a second. */
  countLate(
    now: number,
    { waitedMs, before, perSecond }: { waitedMs: number; before: number; perSecond: number }
  ): number {
    const msMax = this.waitMsMax(now)
    return this.#waiting.filter(
      ({ since }, at) => now - since >= waitedMs && now - since + ((before + at) / perSecond) * 1_000 > msMax
    ).length
  }

  /** Notes that a request was refused. */
  refused(now: number): void {
    if (this.stands(now)) this.#standsUntil = now + RECOVERED_MS
  }

  /** Looks whether the queue stands. Called every 50 ms. */
  tick(now: number): void {
    const oldest = this.#waiting.reduce((oldest, { since }) => Math.min(oldest, since), now)
    if (now - oldest <= STANDING_MS) {
      this.#slowSince = undefined
      return
    }
    this.#slowSince ??= oldest + STANDING_MS
    if (now - this.#slowSince >= this.#burstMs - STANDING_MS) this.#standsUntil = now + RECOVERED_MS
  }
}
