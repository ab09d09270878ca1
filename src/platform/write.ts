import type { Transaction } from './postgres.ts'

/** What a request asks of a write, beside what it writes. */
export type Write = {
  /** The version that the caller believes to be the present one; `null` when any will do. */
  readonly expectedVersion: number | null
  /**
   * True when an earlier try of this very request was committed but its answer was lost (the process died between
   * the two). Then nothing may be written; the answer is the present state.
   */
  readonly alreadyApplied: boolean
  /**
   * Notes in the transaction of the write that this request was applied, so that both are committed or neither.
   * @throws `conflict` when a later try of the same request has taken over: the transaction must end.
   */
  markApplied(tx: Transaction): Promise<void>
}

/** A write without conditions and without an idempotency key. */
export const unconditional: Write = {
  expectedVersion: null,
  alreadyApplied: false,
  markApplied: async () => {}
}
