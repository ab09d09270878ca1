import type { Buyer, PurchasePayment } from './purchases.ts'

type PurchaseBudget = {
  buyer: Buyer
  payment: PurchasePayment
  /** Exact, without those that begin and end transactions. */
  statements: number
  /** At most. */
  buffers: number
  /** At most, without images of full pages. */
  walBytes: number
}

/** What a whole purchase costs, from the cart until the last event, mail and job of its order is handled. */
export const PURCHASE_BUDGETS: readonly PurchaseBudget[] = [
  { buyer: 'guest', payment: 'cash on delivery', statements: 46, buffers: 420, walBytes: 18_700 },
  { buyer: 'guest', payment: 'captured transfer', statements: 88, buffers: 750, walBytes: 30_000 },
  { buyer: 'guest', payment: 'card', statements: 113, buffers: 860, walBytes: 38_300 },
  { buyer: 'customer', payment: 'cash on delivery', statements: 51, buffers: 430, walBytes: 19_600 }
]
