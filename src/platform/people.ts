import type { Transaction } from './postgres/database.ts'

/** What a module keeps of people: how it forgets somebody, and what it tells them that it has. */
export type People = {
  /**
   * Takes out of all that the module keeps who somebody was, within the transaction that deletes their account. Does nothing
   * where nothing is left: it is done once more a minute later, for what was being written meanwhile. Throws what
   * forbids it, such as an order that is open; then nothing is erased anywhere.
   */
  erase(tx: Transaction, userId: string): Promise<void>
  /** All that the module keeps of somebody, as JSON. */
  export(userId: string): Promise<unknown>
}
