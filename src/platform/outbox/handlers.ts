import type { Delivery } from '../../kernel/events.ts'
import type { Transaction } from '../postgres/database.ts'

/**
 * Does within `tx` what follows from these events, which are of different subjects; they are done when it commits. What
 * throws is tried again, each alone, so it may do nothing that must not be done twice, but in `tx`.
 */
export type Consumer<P> = (tx: Transaction, events: readonly Delivery<P>[]) => Promise<void>
/** Does a job outside of transactions, at least once. It has to end soon when `signal` says so: then it is not done. */
export type JobHandler<P> = (job: Delivery<P>, signal: AbortSignal) => Promise<void>
/** What handles events of one name for one module, or the jobs of one name. */
export type Handler =
  | {
      consume: Consumer<never>
      /** Whether it would do anything about an event of now: when it would not, none is written for it. */
      isWanted?: (() => boolean) | undefined
    }
  | {
      run: JobHandler<never>
      seconds: number
      everySeconds?: number | undefined
      asksOthers?: boolean | undefined
      atOnce?: number | undefined
    }
