import { isRefusal } from './errors.ts'
import type { RunOptions, Transaction, Transactions, Work } from './transaction.ts'

type Options = Pick<RunOptions, 'deadlineAt'>
type Caller = Options & {
  work(tx: Transaction): Promise<unknown>
  resolve(made: unknown): void
  reject(error: unknown): void
}
type RunOnce = (
  work: Work<unknown[]>,
  options: Options & Required<Pick<RunOptions, 'onCommit'>>
) => Promise<unknown[]>

/** Those of one transaction fail together, and are done again. */
const SIZE_MAX = 32
/** Whoever has less time left is done alone: the first who is out of time ends it for all. */
const LEFT_MS_MIN = 1_000

/**
 * See `Database.together`. `alone` begins a transaction for one, `runOnce` one for many. When that fails, whoever failed in it is done
 * again alone, and the others together, so nobody fails by another one's fault, unless nobody knows whether it was committed.
 */
export function createTogether(alone: Transactions['transaction'], runOnce: RunOnce) {
  let waiting: Caller[] = []

  function setOff(): void {
    const all = waiting
    waiting = []
    for (let from = 0; from < all.length; from += SIZE_MAX) settle(all.slice(from, from + SIZE_MAX))
  }

  async function settle(callers: readonly Caller[]): Promise<void> {
    const failed = callers.length > 1 ? await failedOf(callers) : callers
    for (const { work, deadlineAt, resolve, reject } of failed)
      alone(work, { deadlineAt }).then(resolve, reject)
    const others = callers.filter(each => !failed.includes(each))
    if (failed.length > 0 && others.length > 0) settle(others)
  }

  /** Who is to be done again alone, as nothing was changed; nobody once all have been told how it ended. */
  async function failedOf(callers: readonly Caller[]): Promise<readonly Caller[]> {
    let failed: readonly Caller[] = []
    // Whoever got no connection has waited for one as long as anybody may.
    let isAgain = async () => false
    const workOfAll: Work<unknown[]> = async (_, share) => {
      isAgain = async () => true
      // Async: what one throws at once is its own failure, too.
      const works = callers.map(async ({ work }) => work(share()))
      // None is under way any more when it ends.
      const settled = await Promise.allSettled(works)
      failed = callers.filter((_each, index) => settled[index]?.status === 'rejected')
      return Promise.all(works)
    }
    try {
      const made = await runOnce(workOfAll, {
        deadlineAt: Math.min(...callers.map(({ deadlineAt }) => deadlineAt)),
        onCommit: answer => {
          isAgain = () => answer.then(({ command }) => command !== 'COMMIT', isRefusal)
        }
      })
      for (const [index, { resolve }] of callers.entries()) resolve(made[index])
      return []
    } catch (error) {
      // What was refused at the end says nothing of who is at fault.
      if (await isAgain()) return failed.length > 0 ? failed : callers
      for (const { reject } of callers) reject(error)
      return []
    }
  }

  return <T>(work: (tx: Transaction) => Promise<T>, { deadlineAt }: Options): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const caller = { work, deadlineAt, resolve: resolve as Caller['resolve'], reject }
      if (deadlineAt < performance.now() + LEFT_MS_MIN) settle([caller])
      else if (waiting.push(caller) === 1) process.nextTick(setOff)
    })
}
