import { isRecentLogin, loginTooOldError } from '../../../kernel/logins.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import {
  apiKeyRefundLimitExceededError,
  paymentProviderRemovedError,
  refundAmountTooHighError
} from '../errors.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import { insertPaymentOperations } from './operation-repository.ts'
import { type PaymentRow, reserveRefundAmount } from './repository.ts'

/** A refund that is requested of the provider. */
export type RequestedRefund = {
  readonly id: string
  readonly amountMinor: number
  readonly reason: string
  readonly actor: string | null
}

/** The administrator or the API key that requests a refund, with the time of the administrator's login. */
export type RefundActor = { readonly apiKeyId?: string; readonly authenticatedAt?: number }
/**
 * How much of one order an administrator may refund in total without a recent login, and an API key at all. In
 * minor units.
 */
type RefundAuthorizationLimits = { readonly recent_login_above: number; readonly api_key_max: number }

type Deps = {
  limits: RefundAuthorizationLimits
  providers: Pick<PaymentProviderRegistry, 'names'>
}

/** Requests refunds: the amount is reserved first, then the provider is called. */
export function createRefundService({ limits, providers }: Deps) {
  const rejectExcessiveRefund = (available: number): never => {
    throw refundAmountTooHighError({ details: { available } })
  }
  return {
    rejectExcessiveRefund,
    /**
     * Checks the limits of the caller. The limits apply to the total refund of the order, so that they cannot be bypassed with
     * many small refunds. @throws `PAYMENT_REFUND_LIMIT`, `AUTH_RECENT_LOGIN_REQUIRED`
     */
    assertCanRefund: (
      { refunded, refunding }: Pick<PaymentRow, 'refunded' | 'refunding'>,
      amountMinor: number,
      actor: RefundActor
    ): void => {
      const totalMinor = refunded + refunding + amountMinor
      const { api_key_max: limit, recent_login_above } = limits
      const isApiKey = actor.apiKeyId !== undefined
      if (isApiKey && totalMinor > limit) throw apiKeyRefundLimitExceededError({ details: { limit } })
      if (!isApiKey && totalMinor > recent_login_above && !isRecentLogin(actor)) throw loginTooOldError()
    },
    /**
     * Reserves the amount and inserts the operation. The caller holds the account's lock.
     * @throws `PAYMENT_REFUND_TOO_MUCH`; `PAYMENT_PROVIDER_REMOVED`, because the operation would never have a result
     */
    request: async (
      tx: Transaction,
      payment: PaymentRow,
      { id, amountMinor: amount, reason, actor }: RequestedRefund
    ): Promise<void> => {
      const { provider, captured, refunded, refunding } = payment
      if (!providers.names().includes(provider)) throw paymentProviderRemovedError({ details: { provider } })
      if ((await tx.run(reserveRefundAmount, { id: payment.id, amount })) === 0)
        rejectExcessiveRefund(Math.max(0, captured - refunded - refunding))
      const operation = { ids: [id], paymentIds: [payment.id], amounts: [amount] }
      await tx.run(insertPaymentOperations, { ...operation, kind: 'refund', reason, actor })
    }
  }
}
export type RefundService = ReturnType<typeof createRefundService>
