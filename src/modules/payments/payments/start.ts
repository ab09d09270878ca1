import type { Transaction } from '../../../platform/postgres/database.ts'
import { takeCommitted } from '../accounts/repository.ts'
import type { Attempts } from '../attempts/service.ts'
import { currencyUnsupported, methodUnknown, nothingDue, orderFrozen } from '../errors.ts'
import type { AccountRow } from '../facts/repository.ts'
import { insertOperations } from '../operations/repository.ts'
import type { Providers } from '../providers/registry.ts'
import { insertPayment } from './repository.ts'

/** Who is paid, and by which method; what is left out is the usual one. */
export type Choice = { readonly provider?: string | undefined; readonly method?: string | undefined }

export function createStarter(providers: Providers, attempts: Attempts) {
  /** @throws `PAYMENT_PROVIDER_UNKNOWN`, `PAYMENT_METHOD_UNKNOWN`, `PAYMENT_CURRENCY_UNSUPPORTED` */
  function chosen({ provider, method }: Choice, currency: string) {
    const taking = providers.offered.filter(each => providers.get(each).takes(currency))
    const name = provider ?? taking[0] ?? ''
    const { methods } = providers.get(name)
    if (methods.length > 0 && !taking.includes(name))
      throw currencyUnsupported({ details: { currency, providers: taking } })
    const by = method ?? methods[0] ?? ''
    if (!methods.includes(by)) throw methodUnknown({ details: { methods } })
    return { provider: name, method: by }
  }

  return {
    chosen,
    /**
     * Begins a payment of all that is left to be paid, and returns its method; its first operation has the same id. The account is
     * locked. `network`: as kept.
     * @throws `PAYMENT_ATTEMPTS_LIMITED`, `PAYMENT_NOTHING_DUE`, `PAYMENT_ORDER_FROZEN`, and as `chosen`
     */
    start: async (
      tx: Transaction,
      account: AccountRow,
      { id, network, ...choice }: Choice & { readonly id: string; readonly network: string | null }
    ): Promise<string> => {
      const { order_id, customer_id, currency, due, committed, frozen_at } = account
      const of = chosen(choice, currency)
      if (frozen_at !== null) throw orderFrozen()
      if (providers.get(of.provider).kind !== 'offline') await attempts.refuseTooMany(tx, network, order_id)
      const amount = due - committed
      if (amount <= 0 || (await tx.run(takeCommitted, { order_id, amount })) === 0) throw nothingDue()
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
export type Starter = ReturnType<typeof createStarter>
