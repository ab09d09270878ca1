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
  /** The same for a customer who ordered without an account; absent when the module keeps nothing of guests. */
  guests?: {
    /** Erases within the transaction that erases the guest's orders. */
    erase(tx: Transaction, guest: Guest): Promise<void>
    /** Returns everything that the module keeps of the guest, as JSON. */
    export(guest: Guest): Promise<unknown>
  }
}

/** A customer without an account, known by orders. */
export type Guest = {
  readonly orderIds: readonly string[]
  /** The e-mail addresses of these orders. */
  readonly emails: readonly string[]
  /** Hashes by which uses of promotions are counted. Empty unless these are all orders of the guest. */
  readonly buyers: readonly string[]
}
