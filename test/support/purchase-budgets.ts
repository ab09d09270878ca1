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
  { buyer: 'guest', payment: 'cash on delivery', statements: 41, buffers: 345, walBytes: 12_000 },
  { buyer: 'guest', payment: 'captured transfer', statements: 76, buffers: 600, walBytes: 18_600 },
  { buyer: 'guest', payment: 'card', statements: 72, buffers: 545, walBytes: 19_900 },
  { buyer: 'customer', payment: 'cash on delivery', statements: 48, buffers: 370, walBytes: 14_000 }
]
