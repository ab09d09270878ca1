import { definePort } from '../../../kernel/ports.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentChangeListener } from './changes.ts'

/** Runs in the transaction in which a buyer starts a payment, before it is written. Throws to reject the payment. */
export type PaymentStartGuard = (
  tx: Transaction,
  payment: { readonly orderId: string; readonly method: string }
) => Promise<void>
/**
 * Runs when a buyer has returned from the provider and its response is recorded. It may wait for the consequences. What it
 * throws becomes the response.
 */
export type PaymentReturnHook = (orderId: string) => Promise<void>

export type OrderPaymentHooks = {
  /** Runs in each transaction in which a change begins in payments: a response, a callback, a poll or an action of an administrator. */
  readonly onChange: PaymentChangeListener
  /** Runs before a buyer starts a payment of an existing order. */
  readonly beforeStart?: PaymentStartGuard
  /** Runs outside any transaction when a buyer returns from the provider. */
  readonly onReturn?: PaymentReturnHook
}

/** The package does not export it, because payments keep their promises only when one module decides what an order owes. */
export const orderPaymentHooksPort = definePort<OrderPaymentHooks>('payments.order_hooks', {
  description: 'Applies changes of payments to their orders.',
  providers: 'one'
})
