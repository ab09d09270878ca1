import type { RequestClass } from '../routing/tiers.ts'
import { createConcurrencyLimit } from './concurrency-limit.ts'
import { CLASSES } from './request-classes.ts'

/** Nobody waits longer for a place. */
const WAIT_MS_MAX = 200
/** Who would have to wait longer than this is refused at once. */
const WAIT_MS_EXPECTED = 50
/** A short burst may always wait. */
const WAITING_MIN = 8
/** How old the answer to "who holds most?" may be. */
const TOP_AGE_MS = 20

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
type Waiting = { applicant: Applicant; since: number }

export type Admission = ReturnType<typeof createAdmission>

/**
 * Who is worked on, and who waits for it. A place is held by work, and by nothing else: a request takes one when all
 * of it has arrived and its caller is within their limits, and gives it back when its answer is made. Places go by
 * class and then by age. Nobody waits more than 200 ms; who would have to is refused at once. When places are short, the
 * address that holds most of them loses first: nobody has a share that others do not want.
 */
export function createAdmission(concurrentMax: number) {
  const limit = createConcurrencyLimit(concurrentMax)
  const queues: Waiting[][] = CLASSES.map(() => [])
  const heldBy = new Map<string, number>()
  const top = { network: '', held: 0, at: 0 }
  const statistics = { taken: 0, waiting: 0, waits: 0, waitedMs: 0 }
  let isLettingIn = false

  function hold(network: string, change: 1 | -1): void {
    const held = (heldBy.get(network) ?? 0) + change
    if (held === 0) heldBy.delete(network)
    else heldBy.set(network, held)
  }

  const waitingMax = () => Math.max(WAITING_MIN, (limit.value * WAIT_MS_EXPECTED) / limit.typicalMs)

  /** Whether too many of this class, and of those before it, are waiting. */
  function isFull(rank: number): boolean {
    const max = waitingMax()
    if (statistics.waiting < max) return false
    let before = 0
    for (let each = 0; each <= rank; each += 1) before += (queues[each] as Waiting[]).length
    return before >= max
  }

  function networkThatHoldsMost(now: number): typeof top {
    if (now - top.at < TOP_AGE_MS) return top
    Object.assign(top, { network: '', held: 0, at: now })
    for (const [network, held] of heldBy) if (held > top.held) Object.assign(top, { network, held })
    return top
  }

  /** Whether somebody else holds so much more that this one is not the first to lose. */
  const isOutdone = (network: string, now: number) => {
    const most = networkThatHoldsMost(now)
    return most.network !== network && most.held > (heldBy.get(network) ?? 0) + 1
  }

  /** Refuses the newest that waits of the network that holds most, of this class or one behind it. */
  function makeRoom(rank: number, now: number): boolean {
    const { network } = networkThatHoldsMost(now)
    top.held -= 1
    for (let each = CLASSES.length - 1; each >= rank; each -= 1) {
      const queue = queues[each] as Waiting[]
      const index = queue.findLastIndex(({ applicant }) => applicant.network === network)
      const [loser] = index < 0 ? [] : queue.splice(index, 1)
      if (loser === undefined) continue
      dismiss(loser, 'share')
      return true
    }
    return false
  }

  function dismiss({ applicant }: Waiting, reason: Refusal): void {
    statistics.waiting -= 1
    hold(applicant.network, -1)
    applicant.refuse(reason)
  }

  /** Lets in who waits, while there are places. What is let in may be done at once, and come back here. */
  function letIn(now: number): void {
    if (isLettingIn) return
    isLettingIn = true
    try {
      while (statistics.waiting > 0 && statistics.taken < limit.value) {
        const first = queues.find(queue => queue.length > 0)?.shift() as Waiting
        const waitedMs = now - first.since
        if (waitedMs > WAIT_MS_MAX) {
          dismiss(first, 'wait')
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

    /** Whether anybody at all may have to be refused. Asked for every request: it costs next to nothing. */
    isShort: (): boolean => statistics.waiting >= WAITING_MIN && statistics.waiting >= waitingMax(),

    /** For the door: whether a request would be refused, before anything of it is read. */
    wouldRefuse(requestClass: RequestClass, network: string, now: number): boolean {
      return isFull(CLASSES.indexOf(requestClass)) && !isOutdone(network, now)
    },

    /** Admits or refuses the applicant, now or within 200 ms. */
    enter(applicant: Applicant, now: number): void {
      const rank = CLASSES.indexOf(applicant.class)
      if (statistics.waiting === 0 && statistics.taken < limit.value) {
        statistics.taken += 1
        hold(applicant.network, 1)
        applicant.admit()
        return
      }
      limit.reached()
      if (isFull(rank) && !(isOutdone(applicant.network, now) && makeRoom(rank, now))) {
        applicant.refuse('queue')
        return
      }
      hold(applicant.network, 1)
      statistics.waiting += 1
      ;(queues[rank] as Waiting[]).push({ applicant, since: now })
      letIn(now)
    },

    /** The work of an applicant that was admitted at `admittedAt` has ended. */
    leave(applicant: Applicant, admittedAt: number, now: number): void {
      limit.sample(admittedAt, now)
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
      for (const queue of queues) {
        while (queue[0] !== undefined && now - queue[0].since > WAIT_MS_MAX)
          dismiss(queue.shift() as Waiting, 'wait')
      }
      limit.adjust(now)
      letIn(now)
    }
  }
}
