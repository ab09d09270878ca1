import type { Transaction } from './database.ts'

/**
 * Returns a function that returns a value of each transaction, which `create` makes on first use. The transaction holds it.
 *
 * A WeakMap of transactions would also be correct, but V8 frees its entries late: a collection of young objects treats its
 * values as in use, and they refer to their transactions. So all that a request had allocated was moved to the old generation
 * (docs/decisions/0138).
 */
export function createTransactionValue<T>(create: (tx: Transaction) => T): (tx: Transaction) => T {
  const key = Symbol('value of a transaction')
  return tx => {
    const values = tx as Transaction & { [key]?: { readonly value: T } }
    values[key] ??= { value: create(tx) }
    return values[key].value
  }
}
