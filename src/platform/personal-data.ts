import type { Transaction } from './postgres/database.ts'

/** How a module exports and erases the personal data of a user (GDPR, articles 15 and 17). */
export type PersonalDataHandler = {
  /**
   * Deletes or anonymises the user's data within the transaction that deletes the account. Runs again a minute later, because
   * other transactions may have written meanwhile; does nothing when nothing is left. Throws when erasure is not allowed, such as
   * for an open order; then nothing is erased in any module.
   */
  erase(tx: Transaction, userId: string): Promise<void>
  /** Returns all data that the module stores about the user, as JSON. */
  export(userId: string): Promise<unknown>
  /** The same for a guest customer; absent when the module stores nothing about guests. */
  guests?: {
    /** Erases within the transaction that erases the guest's orders. */
    erase(tx: Transaction, guest: GuestIdentity): Promise<void>
    /** Returns all data that the module stores about the guest, as JSON. */
    export(guest: GuestIdentity): Promise<unknown>
  }
}

/** A customer without an account, identified by orders. */
export type GuestIdentity = {
  readonly orderIds: readonly string[]
  /** The e-mail addresses of these orders. */
  readonly emails: readonly string[]
  /** Hashes by which promotion uses are counted. Empty unless these are all orders of the guest. */
  readonly buyers: readonly string[]
}
