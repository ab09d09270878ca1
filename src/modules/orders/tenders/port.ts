import { definePort } from '../../../kernel/ports.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'

/**
 * A tender that a buyer names, and how much of an order it is to cover.
 * @example
 * const isGuest = ({ buyer }: TenderQuery): boolean => buyer.customerId === null
 */
export type TenderQuery = {
  /** The code as the buyer typed it. It is a secret. */
  readonly code: string
  readonly currency: string
  /** The most that it may cover, in minor units. At least 1. */
  readonly amountMinor: number
  readonly buyer: {
    /** Null: a guest. */
    readonly customerId: string | null
    /** Network of the client, for limits of guesses. Null: an administrator or a job acts for the buyer. */
    readonly network: string | null
  }
}
/**
 * How much a tender covers, in minor units, and the text that shows it to people, such as its last characters.
 * @example
 * const cover: TenderCover = { amountMinor: 2_000, label: 'Gift card ending in 7K2M' }
 */
export type TenderCover = { readonly amountMinor: number; readonly label: string }

/**
 * Provides a means of payment whose balance is in the database of the shop, such as gift cards or store credit. The name of
 * the provider is the `type` of its tenders.
 *
 * A tender has an id that the order gives it. Its amount is reserved, then confirmed or released, and a confirmed amount is
 * refunded in parts. Every call can be repeated with the same ids, and then changes nothing more. `confirm` and `refund` run
 * in the transaction of the order, after its payment account and the order are locked. They lock the rows of the provider in
 * the order of their ids, and call no other module.
 * @example
 * const coverOf = (provider: TenderProvider, query: TenderQuery) => provider.preview(query)
 */
export type TenderProvider = {
  /**
   * Returns what a tender could cover now, at most the requested amount, and changes no balance. It limits guesses of codes.
   * Throws a `DomainError` that the buyer sees when the code is unknown or cannot be used; it may do so when nothing is left.
   */
  preview(query: TenderQuery): Promise<TenderCover>
  /**
   * Reserves what the tender can cover, at most the requested amount, in a transaction of its own. No other tender can use it
   * until it is confirmed or released, or until `seconds` have passed. Repeated for a reservation, it replaces the
   * reservation; for a confirmed tender, it returns the confirmed amount. Limits and errors are those of `preview`.
   */
  reserve(query: TenderQuery & { readonly id: string; readonly seconds: number }): Promise<TenderCover>
  /** Takes the reserved amounts from the balances. @throws `DomainError` of kind `conflict` when a reservation has expired */
  confirm(tx: Transaction, ids: readonly string[]): Promise<void>
  /** Gives the reserved amounts back to the balances. Confirmed and unknown tenders stay as they are. */
  release(tx: Transaction, ids: readonly string[]): Promise<void>
  /** Gives parts of confirmed amounts back to the balances. `id`: of the refund; the order never refunds more than `confirm` took. */
  refund(tx: Transaction, refunds: readonly TenderRefund[]): Promise<void>
}
/**
 * A part of a confirmed tender to give back, in minor units.
 * @example
 * const sumOf = (refunds: readonly TenderRefund[]) => refunds.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
 */
export type TenderRefund = { readonly id: string; readonly tenderId: string; readonly amountMinor: number }

/** The port of tenders. The name of a provider is the `type` of its tenders in requests and orders. */
export const tenderPort = definePort<TenderProvider>('orders.tender', {
  description: 'Covers a part or all of an order from a balance, such as a gift card or store credit.',
  providers: 'many'
})
