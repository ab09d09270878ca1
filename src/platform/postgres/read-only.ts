import { databaseReadOnlyError } from './errors.ts'
import type { Queryable } from './queryable.ts'
import type { Statement } from './statement.ts'
import type { DedicatedConnection } from './transactions/dedicated-connection.ts'
import type { TransactionRunner } from './transactions/transaction.ts'

/** The parts of a database that may write. */
type Writable = Queryable &
  TransactionRunner & {
    readonly isReadOnly: boolean
    serializedBy(key: string): unknown
    groupCommit(): unknown
    dedicated(): DedicatedConnection
    proveWrite(): Promise<void>
  }

/** The database of a process that only reads: transactions, and statements that write or lock, are rejected before they are sent. */
export function readOnlyDatabase<D extends Writable>(database: D): D {
  const reject = () => Promise.reject(databaseReadOnlyError())
  const { rows, first, run } = database
  const guard = <Send>(send: Send): Send => {
    const guarded = (statement: Statement, ...given: object[]) =>
      statement.mayLock ? reject() : (send as (...all: unknown[]) => unknown)(statement, ...given)
    return guarded as Send
  }
  const guarded: D = {
    ...database,
    isReadOnly: true,
    rows: guard(rows),
    first: guard(first),
    run: guard(run),
    transaction: reject,
    serializedBy: () => guarded,
    groupCommit: () => guarded,
    dedicated: () => ({
      attempt: async () => ({ kind: 'undone', error: databaseReadOnlyError() }),
      close: async () => {}
    }),
    proveWrite: reject
  }
  return guarded
}
