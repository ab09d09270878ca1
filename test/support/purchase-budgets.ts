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
  { buyer: 'guest', payment: 'cash on delivery', statements: 44, buffers: 390, walBytes: 16_100 },
  { buyer: 'guest', payment: 'captured transfer', statements: 82, buffers: 680, walBytes: 26_000 },
  { buyer: 'guest', payment: 'card', statements: 88, buffers: 710, walBytes: 29_700 },
  { buyer: 'customer', payment: 'cash on delivery', statements: 50, buffers: 400, walBytes: 17_800 }
]
