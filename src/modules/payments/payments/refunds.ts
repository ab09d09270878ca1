import type { Transaction } from '../../../platform/postgres/database.ts'
import { refundTooMuch } from '../errors.ts'
import { insertOperations } from '../operations/repository.ts'
import { type PaymentRow, takeRefund } from './repository.ts'

export type Refund = {
  readonly id: string
  readonly amount: number
  readonly reason: string
  readonly actor: string | null
}

/** Refunds that are decided: the amount is taken first, then the provider is asked. */
export function createRefunds() {
  const refuse = (available: number): never => {
    throw refundTooMuch({ details: { available } })
  }
  return {
    refuse,
    /** The account is locked. @throws `PAYMENT_REFUND_TOO_MUCH` */
    take: async (
      tx: Transaction,
      payment: PaymentRow,
      { id, amount, reason, actor }: Refund
    ): Promise<void> => {
      const { captured, refunded, refunding } = payment
      if ((await tx.run(takeRefund, { id: payment.id, amount })) === 0)
        refuse(Math.max(0, captured - refunded - refunding))
      const operation = { ids: [id], paymentIds: [payment.id], amounts: [amount] }
      await tx.run(insertOperations, { ...operation, kind: 'refund', reason, actor })
    }
  }
}
export type Refunds = ReturnType<typeof createRefunds>
