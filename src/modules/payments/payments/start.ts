import type { Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentAttemptLimits } from '../attempt-limits/service.ts'
import {
  canceledOrderNotPayableError,
  nothingDueForOrderError,
  paymentCurrencyUnsupportedError,
  paymentMethodUnknownError
} from '../errors.ts'
import { type OrderPaymentAccountRow, reservePaymentAmount } from '../facts/repository.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import { insertPaymentOperations } from './operation-repository.ts'
import { insertPayment } from './repository.ts'

/** Provider and method of a payment. An omitted one is chosen by default. */
export type PaymentProviderAndMethodChoice = {
  readonly provider?: string | undefined
  readonly method?: string | undefined
}

export function createPaymentStarter(providers: PaymentProviderRegistry, attempts: PaymentAttemptLimits) {
  /** @throws `PAYMENT_PROVIDER_UNKNOWN`, `PAYMENT_METHOD_UNKNOWN`, `PAYMENT_CURRENCY_UNSUPPORTED` */
  function resolveMethod({ provider, method }: PaymentProviderAndMethodChoice, currency: string) {
    const supporting = providers.offered().filter(each => providers.get(each).supportsCurrency(currency))
    const name = provider ?? supporting[0] ?? ''
    const methods = providers.methodsOf(name)
    if (methods.length > 0 && !supporting.includes(name))
      throw paymentCurrencyUnsupportedError({ details: { currency, providers: supporting } })
    const chosenMethod = method ?? methods[0] ?? ''
    if (!methods.includes(chosenMethod)) throw paymentMethodUnknownError({ details: { methods } })
    return { provider: name, method: chosenMethod }
  }

  return {
    resolveMethod,
    /**
     * Starts a payment of the amount that no other payment covers, and returns its method. Its first operation has the same id.
     * The caller holds the account's lock. `network` is the stored hash.
     * @throws `PAYMENT_ATTEMPTS_LIMITED`, `PAYMENT_NOTHING_DUE`, `PAYMENT_ORDER_FROZEN`, and as `resolveMethod`
     */
    start: async (
      tx: Transaction,
      account: Pick<
        OrderPaymentAccountRow,
        'order_id' | 'customer_id' | 'currency' | 'due' | 'committed' | 'frozen_at'
      >,
      {
        id,
        network,
        ...choice
      }: PaymentProviderAndMethodChoice & { readonly id: string; readonly network: string | null }
    ): Promise<string> => {
      const { order_id, customer_id, currency, due, committed, frozen_at } = account
      const resolved = resolveMethod(choice, currency)
      if (frozen_at !== null) throw canceledOrderNotPayableError()
      if (providers.get(resolved.provider).kind !== 'offline')
        await attempts.assertBelowLimit(tx, network, order_id)
      const amount = due - committed
      if (amount <= 0 || (await tx.run(reservePaymentAmount, { order_id, amount })) === 0)
        throw nothingDueForOrderError()
      await tx.run(insertPayment, { id, order_id, customer_id, amount, currency, network, ...resolved })
      await tx.run(insertPaymentOperations, {
        ids: [id],
        paymentIds: [id],
        kind: 'create',
        amounts: [amount],
        reason: null,
        actor: null
      })
      return resolved.method
    }
  }
}
export type PaymentStarter = ReturnType<typeof createPaymentStarter>
