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
  { buyer: 'guest', payment: 'cash on delivery', statements: 41, buffers: 350, walBytes: 12_600 },
  { buyer: 'guest', payment: 'captured transfer', statements: 75, buffers: 603, walBytes: 19_200 },
  { buyer: 'guest', payment: 'card', statements: 82, buffers: 598, walBytes: 21_900 },
  { buyer: 'customer', payment: 'cash on delivery', statements: 48, buffers: 375, walBytes: 14_400 }
]
