import type pg from 'pg'
import type { Queryable } from './postgres.ts'
import { databaseUnavailable, isRetired, isRetryable, translateDatabaseError } from './postgres-errors.ts'
import type { Statement } from './statement.ts'

declare const inTransaction: unique symbol
/** One open transaction. A function that asks for it can only be called inside `transaction`. */
export type Transaction = Queryable & { readonly [inTransaction]: true }

/**
 * What the connections for transactions start with, so that only `begin` makes them writable: a statement that runs
 * before its `begin` has failed, or after its transaction has ended, changes nothing.
 */
export const outsideOfTransactions = { default_transaction_read_only: 'on' }

/**
 * Runs `work` between `begin` and `commit` and gives the connection back, unless it is broken.
 * @throws what `work` throws, after a rollback; a serialization failure or deadlock as it is; `unavailable`.
 */
export async function runTransaction<T>(
  client: pg.PoolClient,
  work: (tx: Transaction) => Promise<T>
): Promise<T> {
  let isOpen = true
  let broken: Error | undefined
  const remember = (error: Error) => {
    broken = error
  }
  client.on('error', remember)

  const send = async (query: pg.QueryConfig): Promise<pg.QueryResult> => {
    try {
      return await client.query(query)
    } catch (error) {
      if (isRetired(error)) remember(error as Error)
      throw isRetryable(error) ? error : translateDatabaseError(error)
    }
  }
  const query = async ({ name, text }: Statement, values: readonly unknown[]) => {
    if (!isOpen) throw new Error(`${name} came after its transaction had ended`)
    return (await send({ name, text, values: values as unknown[] })).rows
  }

  try {
    // Not awaited: the connection is pipelined, so `begin` travels with the first statement.
    const begun = client.query('begin read write').catch(cause => {
      remember(cause)
      throw databaseUnavailable({ cause, retryAfterSeconds: 1 })
    })
    begun.catch(() => {})
    const result = await work({ query } as Transaction)
    isOpen = false
    await begun
    const { command } = await send({ text: 'commit' })
    if (command !== 'COMMIT') throw new Error('a statement failed and nobody noticed; nothing was committed')
    return result
  } catch (error) {
    isOpen = false
    await client.query('rollback').catch(remember)
    throw error
  } finally {
    client.off('error', remember)
    client.release(broken)
  }
}
