import { isStatementRejectedByServer } from '../errors.ts'
import type { Transaction, TransactionRunner, TransactionRunOptions, TransactionWork } from './transaction.ts'

type Options = Pick<TransactionRunOptions, 'deadlineAt'>
type QueuedWork = Options & {
  work(tx: Transaction): Promise<unknown>
  resolve(made: unknown): void
  reject(error: unknown): void
}
type RunOnce = (
  work: TransactionWork<unknown[]>,
  options: Options & Required<Pick<TransactionRunOptions, 'onCommit'>>
) => Promise<unknown[]>

/** Most callers of one transaction: all of them are retried when one fails. */
const SIZE_MAX = 32
/** A caller with less time left runs alone, because the earliest deadline applies to the whole transaction. */
const LEFT_MS_MIN = 1_000

/**
 * Runs the work of several callers in one transaction (`Database.groupCommit`). `alone` runs the transaction of one caller,
 * `runOnce` that of many. When it fails, each failing caller is retried alone and the others are retried together, so one
 * caller's failure never affects another. If the outcome of COMMIT is unknown, every caller gets the error.
 */
export function createGroupCommit(alone: TransactionRunner['transaction'], runOnce: RunOnce) {
  let waiting: QueuedWork[] = []

  function setOff(): void {
    const all = waiting
    waiting = []
    for (let from = 0; from < all.length; from += SIZE_MAX) settle(all.slice(from, from + SIZE_MAX))
  }

  async function settle(callers: readonly QueuedWork[]): Promise<void> {
    const failed = callers.length > 1 ? await failedOf(callers) : callers
    for (const { work, deadlineAt, resolve, reject } of failed)
      alone(work, { deadlineAt }).then(resolve, reject)
    const others = callers.filter(each => !failed.includes(each))
    if (failed.length > 0 && others.length > 0) settle(others)
  }

  /** Returns the callers to retry alone after a rollback; an empty list once every caller has its result. */
  async function failedOf(callers: readonly QueuedWork[]): Promise<readonly QueuedWork[]> {
    let failed: readonly QueuedWork[] = []
    // Without a connection there is no retry: the wait for one has used its time limit.
    let isRolledBack = async () => false
    const workOfAll: TransactionWork<unknown[]> = async (_, share) => {
      isRolledBack = async () => true
      // `async`, so that a synchronous throw rejects only this caller.
      const works = callers.map(async ({ work }) => work(share()))
      // Waits for all, so that no caller still runs when the transaction ends.
      const settled = await Promise.allSettled(works)
      failed = callers.filter((_each, index) => settled[index]?.status === 'rejected')
      return Promise.all(works)
    }
    try {
      const made = await runOnce(workOfAll, {
        deadlineAt: Math.min(...callers.map(({ deadlineAt }) => deadlineAt)),
        onCommit: answer => {
          isRolledBack = () => answer.then(({ command }) => command !== 'COMMIT', isStatementRejectedByServer)
        }
      })
      for (const [index, { resolve }] of callers.entries()) resolve(made[index])
      return []
    } catch (error) {
      // When COMMIT itself is rejected, the failing caller is unknown, so all are retried alone.
      if (await isRolledBack()) return failed.length > 0 ? failed : callers
      for (const { reject } of callers) reject(error)
      return []
    }
  }

  return <T>(work: (tx: Transaction) => Promise<T>, { deadlineAt }: Options): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const caller = { work, deadlineAt, resolve: resolve as QueuedWork['resolve'], reject }
      if (deadlineAt < performance.now() + LEFT_MS_MIN) settle([caller])
      else if (waiting.push(caller) === 1) process.nextTick(setOff)
    })
}
