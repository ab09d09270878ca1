import type { PaymentChangeListener } from '../../payments/index.ts'
import type { OrderTransitions } from '../lifecycle/service.ts'
import type { ApplyPaymentChange } from './apply-change.ts'

type Deps = { changes: Pick<OrderTransitions, 'lockBehind'>; applyPaymentChange: ApplyPaymentChange }

/** Applies changes that begin in payments: responses and callbacks of providers, polls, actions of administrators. */
export const createPaymentChangeListener =
  ({ changes, applyPaymentChange }: Deps): PaymentChangeListener =>
  async (tx, account, change) => {
    // Payment accounts of other modules have no order.
    const locked = await changes.lockBehind(tx, account, change.orderId)
    if (locked !== undefined) await applyPaymentChange(tx, locked, change)
  }
