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
  { buyer: 'guest', payment: 'cash on delivery', statements: 43, buffers: 362, walBytes: 13_200 },
  { buyer: 'guest', payment: 'captured transfer', statements: 77, buffers: 615, walBytes: 19_900 },
  { buyer: 'guest', payment: 'card', statements: 84, buffers: 615, walBytes: 23_300 },
  { buyer: 'customer', payment: 'cash on delivery', statements: 50, buffers: 387, walBytes: 15_000 }
]
