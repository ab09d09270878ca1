import type { Database, Transaction } from '../../src/platform/postgres/database.ts'

/** Of a database, what a fake asks of one. */
export const transactionsInMemory = {
  serializedBy: () => transactionsInMemory,
  transaction: async <T>(work: (tx: Transaction) => Promise<T>) => {
    const beforeCommits: ((tx: Transaction) => Promise<void>)[] = []
    const committed: (() => void)[] = []
    const tx = {
      beforeCommit: (each: (typeof beforeCommits)[number]) => beforeCommits.push(each),
      afterCommit: (each: () => void) => committed.push(each)
    } as unknown as Transaction
    const result = await work(tx)
    for (const each of beforeCommits) await each(tx)
    for (const each of committed) each()
    return result
  }
} as unknown as Database
