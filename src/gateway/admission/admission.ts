import type { RequestClass } from '../routing/tiers.ts'
import { createCapacity } from './capacity.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'
import { CLASSES } from './request-classes.ts'
import { type Applicant, type Patience, type Refusal, WaitingLine } from './waiting-line.ts'

/** How long a burst may wait. Paying waits longest: a buyer whose payment is refused may not come back. */
const PATIENCE = {
  checkout: { burstMs: 2_500, longestMs: 6_000 },
  account: { burstMs: 1_100, longestMs: 4_000 },
  browse: { burstMs: 300, longestMs: 300 },
  bulk: { burstMs: 300, longestMs: 300 }
} as const satisfies Record<RequestClass, Patience>
/** In a queue that stands, a request that would wait longer than this is refused when it arrives. */
const STANDING_EXPECTED_MS = 50
/** So many may always wait, */
const WAITING_MIN = 8
/** and more never do. */
const WAITING_MAX = 5_000
/** How old the answer to "which network holds most?" may be. */
const TOP_AGE_MS = 20

export type Admission = ReturnType<typeof createAdmission>

/**
 * Which requests are worked on, and which wait. A place is held by work, and by nothing else: a request takes one when
 * all of it has arrived and its caller is within their limits, and gives it back when its answer is made. Places go by
 * class and then by age. A burst waits as long as its class allows; a queue that stands is cut to 200 ms. When places are
 * short, the address that holds most of them loses first, and waits behind the others.
 */
export function createAdmission(concurrentMax: number) {
  const limit = createConcurrencyLimit(concurrentMax)
  const capacity = createCapacity()
  const lines = CLASSES.map(each => new WaitingLine(PATIENCE[each]))
  const heldBy = new Map<string, number>()
  const top = { network: '', held: 0, at: 0 }
  const statistics = { taken: 0, waiting: 0, waits: 0, waitedMs: 0 }
  let isLettingIn = false

  function hold(network: string, change: 1 | -1): void {
    const held = (heldBy.get(network) ?? 0) + change
    if (held === 0) heldBy.delete(network)
    else heldBy.set(network, held)
    if (held > top.held) Object.assign(top, { network, held })
  }

  const lineOf = (rank: number) => lines[rank] as WaitingLine
  /** How many wait in front of a newcomer of this class. */
  const waitingBefore = (rank: number) => {
    let before = 0
    for (let each = 0; each <= rank; each += 1) before += lineOf(each).length
    return before
  }

  /** Whether a newcomer of this class would wait for too long. */
  function isFull(rank: number, now: number): boolean {
    if (statistics.waiting < WAITING_MIN) return false
    const before = waitingBefore(rank)
    const perSecond = capacity.perSecond(now)
    if (before < WAITING_MIN || perSecond === undefined) return before >= WAITING_MAX
    const line = lineOf(rank)
    const msMax = line.stands(now) ? STANDING_EXPECTED_MS : line.waitMsMax(now, perSecond)
    return before >= Math.min(WAITING_MAX, (perSecond * msMax) / 1_000)
  }

  function networkThatHoldsMost(now: number): typeof top {
    if (now - top.at < TOP_AGE_MS) return top
    Object.assign(top, { network: '', held: 0, at: now })
    for (const [network, held] of heldBy) if (held > top.held) Object.assign(top, { network, held })
    return top
  }

  /** Whether another network holds so much more that this one is not the first to lose. */
  const isOutdone = (network: string, now: number) => {
    const most = networkThatHoldsMost(now)
    return most.network !== network && most.held > (heldBy.get(network) ?? 0) + 1
  }

  /** Refuses the newest that waits of the network that holds most, of this class or one behind it. */
  function makeRoom(rank: number, now: number): boolean {
    const { network } = networkThatHoldsMost(now)
    top.held -= 1
    for (let each = CLASSES.length - 1; each >= rank; each -= 1) {
      const loser = lineOf(each).removeNewest(network)
      if (loser === undefined) continue
      dismiss(loser, each, { reason: 'share', now })
      return true
    }
    return false
  }

  function dismiss(
    applicant: Applicant,
    rank: number,
    { reason, now }: { reason: Refusal; now: number }
  ): void {
    statistics.waiting -= 1
    hold(applicant.network, -1)
    lineOf(rank).refused(now)
    applicant.refuse(reason)
  }

  /** Refuses those that have waited for too long, or will have. */
  function dismissLate(rank: number, now: number): void {
    const line = lineOf(rank)
    const perSecond = capacity.perSecond(now)
    for (const late of line.removeLate(now, perSecond)) dismiss(late, rank, { reason: 'wait', now })
    if (perSecond === undefined) return
    const before = waitingBefore(rank) - line.length
    let doomed = line.countLate(now, { before, perSecond })
    for (; doomed > 0; doomed -= 1) {
      const { network } = networkThatHoldsMost(now)
      top.held -= 1
      const loser = line.removeNewest(network) ?? line.removeLast()
      if (loser !== undefined) dismiss(loser, rank, { reason: 'wait', now })
    }
    line.keepJudged(now)
  }

  /** Lets waiting requests in while there are places. One may be done within this call, which then comes back here. */
  function letIn(now: number): void {
    if (isLettingIn) return
    isLettingIn = true
    try {
      while (statistics.waiting > 0 && statistics.taken < limit.value) {
        const rank = lines.findIndex(line => line.length > 0)
        const first = lineOf(rank).next() as NonNullable<ReturnType<WaitingLine['next']>>
        const waitedMs = now - first.since
        if (!first.isKept && waitedMs > lineOf(rank).waitMsMax(now, capacity.perSecond(now))) {
          dismiss(first.applicant, rank, { reason: 'wait', now })
          continue
        }
        statistics.waiting -= 1
        statistics.taken += 1
        statistics.waits += 1
        statistics.waitedMs += waitedMs
        first.applicant.admit()
      }
    } finally {
      isLettingIn = false
    }
  }

  return {
    /** For `/metrics`. */
    statistics: () => ({ ...statistics, places: limit.value }),

    /** Whether a request may have to be refused at all. Asked for every request: it costs next to nothing. */
    isShort: (): boolean => statistics.waiting >= WAITING_MIN,

    /** For the door: whether a request would be refused, before anything of it is read. */
    wouldRefuse(requestClass: RequestClass, network: string, now: number): boolean {
      const rank = CLASSES.indexOf(requestClass)
      if (!isFull(rank, now) || isOutdone(network, now)) return false
      lineOf(rank).refused(now)
      return true
    },

    /** Admits or refuses the applicant, now or once it has waited. */
    enter(applicant: Applicant, now: number): void {
      const rank = CLASSES.indexOf(applicant.class)
      if (statistics.waiting === 0 && statistics.taken < limit.value) {
        statistics.taken += 1
        hold(applicant.network, 1)
        applicant.admit()
        return
      }
      limit.reached()
      const isOut = isOutdone(applicant.network, now)
      if (isFull(rank, now) && !(isOut && makeRoom(rank, now))) {
        lineOf(rank).refused(now)
        applicant.refuse('queue')
        return
      }
      hold(applicant.network, 1)
      statistics.waiting += 1
      lineOf(rank).add(applicant, now, isOut ? networkThatHoldsMost(now).network : undefined)
      letIn(now)
    },

    /** The work of an applicant that was admitted at `admittedAt` has ended. */
    leave(applicant: Applicant, admittedAt: number, now: number): void {
      limit.sample(admittedAt, now)
      capacity.completed()
      statistics.taken -= 1
      hold(applicant.network, -1)
      letIn(now)
    },

    /** It only waits for something else from here on: its place goes to somebody who works. */
    pause(applicant: Applicant, now: number): void {
      statistics.taken -= 1
      hold(applicant.network, -1)
      letIn(now)
    },
    /** It goes on. It was let in before, so it does not queue again, even when that is one too many for a moment. */
    resume(applicant: Applicant): void {
      statistics.taken += 1
      hold(applicant.network, 1)
    },

    /** Called every 50 ms while there is anything to do. */
    tick(now: number): void {
      capacity.tick(now, statistics.waiting > 0)
      for (const [rank, line] of lines.entries()) {
        line.tick(now, capacity.perSecond(now))
        dismissLate(rank, now)
      }
      limit.adjust(now)
      letIn(now)
    }
  }
}
