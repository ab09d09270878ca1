import type { JobDelivery } from '../../kernel/events.ts'
import type { Transaction } from '../postgres/database.ts'

/**
 * Writes the effects of these events within `tx`. The events are of different subjects, and they are done when `tx` commits.
 * When it throws, each event is tried again alone, so every effect belongs in `tx`.
 * @example
 * const handle: EventHandler<{ order_id: string }> = async (_tx, events) => {
 *   for (const { payload } of events) assert.ok(isId(payload.order_id))
 * }
 */
export type EventHandler<P> = (
  tx: Transaction,
  events: readonly JobDelivery<P>[]
) => Promise<EventFollowUp | undefined> | Promise<void>
/**
 * Work of an event handler outside of transactions, such as a call to an external service. The events are done when it has ended.
 * When it fails, or its process dies, they are handled again from the start, so the effects in `tx` have to be repeatable. It
 * returns soon after `signal` is aborted. Meanwhile other events are handled, except later ones of the same subject.
 * @example
 * const followUp: EventFollowUp = async signal => signal.throwIfAborted()
 */
export type EventFollowUp = (signal: AbortSignal) => Promise<void>
/**
 * Runs a job outside of transactions, at least once. It returns soon after `signal` is aborted; the job is then not done.
 * @example
 * const run: JobHandler<{ wish_id: string }> = async ({ payload }, signal) => {
 *   if (!signal.aborted) assert.ok(isId(payload.wish_id))
 * }
 */
export type JobHandler<P> = (job: JobDelivery<P>, signal: AbortSignal) => Promise<void>
/** What handles events of one name for one module, or the jobs of one name. */
export type EventOrJobHandler =
  | {
      handleEvents: EventHandler<never>
      /**
       * Returns false when it would do nothing about an event with this payload now. Then none is written for it. `together`:
       * the names of all events about the same subject in the transaction.
       */
      isWanted?: ((payload: unknown, together: ReadonlySet<string>) => boolean) | undefined
    }
  | {
      runJob: JobHandler<never>
      timeoutSeconds: number
      intervalSeconds?: number | undefined
      /** Of a recurring job: whether a run would do something. Then a run is claimed, which writes its row. */
      hasWork?: (() => Promise<boolean>) | undefined
      callsExternalService?: boolean | undefined
      concurrency?: number | undefined
    }
