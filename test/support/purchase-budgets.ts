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
  { buyer: 'guest', payment: 'cash on delivery', statements: 43, buffers: 372, walBytes: 15_000 },
  { buyer: 'guest', payment: 'captured transfer', statements: 79, buffers: 665, walBytes: 24_200 },
  { buyer: 'guest', payment: 'card', statements: 85, buffers: 670, walBytes: 28_000 },
  { buyer: 'customer', payment: 'cash on delivery', statements: 50, buffers: 395, walBytes: 16_600 }
]
