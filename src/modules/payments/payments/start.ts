import type { Transaction } from '../../../platform/postgres/database.ts'
import type { Attempts } from '../attempt-limits/service.ts'
import { currencyUnsupported, methodUnknown, nothingDue, orderFrozen } from '../errors.ts'
import { type AccountRow, commitAmount } from '../facts/repository.ts'
import { insertOperations } from '../operations/repository.ts'
import type { Providers } from '../providers/registry.ts'
import { insertPayment } from './repository.ts'

/** Provider and method of a payment. Omitted: the default one. */
export type PaymentChoice = { readonly provider?: string | undefined; readonly method?: string | undefined }

export function createPaymentStarter(providers: Providers, attempts: Attempts) {
  /** @throws `PAYMENT_PROVIDER_UNKNOWN`, `PAYMENT_METHOD_UNKNOWN`, `PAYMENT_CURRENCY_UNSUPPORTED` */
  function chosen({ provider, method }: PaymentChoice, currency: string) {
    const supporting = providers.offered.filter(each => providers.get(each).supportsCurrency(currency))
    const name = provider ?? supporting[0] ?? ''
    const { methods } = providers.get(name)
    if (methods.length > 0 && !supporting.includes(name))
      throw currencyUnsupported({ details: { currency, providers: supporting } })
    const by = method ?? methods[0] ?? ''
    if (!methods.includes(by)) throw methodUnknown({ details: { methods } })
    return { provider: name, method: by }
  }

  return {
    chosen,
    /**
     * Starts a payment of the amount that no other payment covers, and returns its method. Its first operation has the same id.
     * The caller holds the account's lock. `network` is the stored hash.
     * @throws `PAYMENT_ATTEMPTS_LIMITED`, `PAYMENT_NOTHING_DUE`, `PAYMENT_ORDER_FROZEN`, and as `chosen`
     */
    start: async (
      tx: Transaction,
      account: AccountRow,
      { id, network, ...choice }: PaymentChoice & { readonly id: string; readonly network: string | null }
    ): Promise<string> => {
      const { order_id, customer_id, currency, due, committed, frozen_at } = account
      const of = chosen(choice, currency)
      if (frozen_at !== null) throw orderFrozen()
      if (providers.get(of.provider).kind !== 'offline')
        await attempts.assertBelowLimit(tx, network, order_id)
      const amount = due - committed
      if (amount <= 0 || (await tx.run(commitAmount, { order_id, amount })) === 0) throw nothingDue()
      await tx.run(insertPayment, { id, order_id, customer_id, amount, currency, network, ...of })
      await tx.run(insertOperations, {
        ids: [id],
        paymentIds: [id],
        kind: 'create',
        amounts: [amount],
        reason: null,
        actor: null
      })
      return of.method
    }
  }
}
export type PaymentStarter = ReturnType<typeof createPaymentStarter>
