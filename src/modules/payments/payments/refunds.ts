import { isRecentLogin, loginTooOld } from '../../../kernel/logins.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { refundLimit, refundTooMuch } from '../errors.ts'
import { insertOperations } from '../operations/repository.ts'
import { type PaymentRow, takeRefund } from './repository.ts'

export type Refund = {
  readonly id: string
  readonly amount: number
  readonly reason: string
  readonly actor: string | null
}

/** The administrator or the API key that asks for a refund. */
export type Refunder = { readonly apiKeyId?: string; readonly authenticatedAt?: number }
/** In the smallest unit of the currency, of one order in total. */
export type RefundLimits = { readonly recent_login_above: number; readonly api_key_max: number }
type Refunded = { readonly refunded: number; readonly refunding: number }

/** Refunds that are decided: the amount is taken first, then the provider is asked. */
export function createRefunds(limits: RefundLimits) {
  const refuse = (available: number): never => {
    throw refundTooMuch({ details: { available } })
  }
  return {
    refuse,
    /**
     * Whether so much more of an account is refunded without a recent log-in. All that goes back for an order counts, so that many
     * small refunds are one large one. @throws `PAYMENT_REFUND_LIMIT`, `AUTH_RECENT_LOGIN_REQUIRED`
     */
    requireRight: ({ refunded, refunding }: Refunded, amountMinor: number, refunder: Refunder): void => {
      const totalMinor = refunded + refunding + amountMinor
      const { api_key_max: limit, recent_login_above } = limits
      const isMachine = refunder.apiKeyId !== undefined
      if (isMachine && totalMinor > limit) throw refundLimit({ details: { limit } })
      if (!isMachine && totalMinor > recent_login_above && !isRecentLogin(refunder)) throw loginTooOld()
    },
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
