import type { Transaction } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import type { PaymentAttemptLimits } from '../attempt-limits/service.ts'
import {
  canceledOrderNotPayableError,
  nothingDueForOrderError,
  paymentCurrencyUnsupportedError,
  paymentMethodUnknownError
} from '../errors.ts'
import { addRankToPaymentFact } from '../facts/fact.ts'
import { type OrderPaymentAccountRow, reservePaymentAmount } from '../facts/repository.ts'
import type { PaymentProviderOperation } from '../providers/port.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import { insertPayment, insertPendingPayment, insertSentPayment } from './new-payment-repository.ts'
import { sealCustomerPaymentStep } from './next-step.ts'
import { insertPaymentOperations } from './operation-repository.ts'
import { type PreparedPaymentOperation, sealPaymentRequest } from './prepared-operation.ts'

/** Provider and method of a payment. An omitted one is chosen by default. */
export type PaymentProviderAndMethodChoice = {
  readonly provider?: string | undefined
  readonly method?: string | undefined
}
/** `network` is the stored hash. */
type PaymentStart = PaymentProviderAndMethodChoice & { readonly id: string; readonly network: string | null }
type PayableAccount = Pick<
  OrderPaymentAccountRow,
  'order_id' | 'customer_id' | 'currency' | 'due' | 'committed' | 'frozen_at'
>
export type NewPayment = {
  readonly id: string
  readonly order_id: string
  readonly customer_id: string | null
  readonly provider: string
  readonly method: string
  readonly currency: string
  readonly amount: number
  readonly network: string | null
}
type Deps = { providers: PaymentProviderRegistry; attempts: PaymentAttemptLimits; secrets: Secrets }

export function createPaymentStarter({ providers, attempts, secrets }: Deps) {
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

  /** Chooses the method of a payment of all that no other payment covers. @throws as `resolveMethod` */
  function choose(
    { order_id, customer_id, currency, due, committed }: PayableAccount,
    { id, network, ...choice }: PaymentStart
  ): NewPayment {
    const resolved = resolveMethod(choice, currency)
    // Only payments at external providers count as attempts of a network.
    const isLimited = providers.get(resolved.provider).kind !== 'offline'
    const ofNetwork = isLimited ? network : null
    return { id, order_id, customer_id, currency, network: ofNetwork, amount: due - committed, ...resolved }
  }

  /** @throws `PAYMENT_ATTEMPTS_LIMITED` */
  async function assertBelowLimit(
    tx: Transaction,
    { provider, network, order_id }: NewPayment
  ): Promise<void> {
    if (providers.get(provider).kind !== 'offline') await attempts.assertBelowLimit(tx, network, order_id)
  }

  /** Inserts a payment and its first operation, which has the same id. It is sent after the commit. */
  async function insert(tx: Transaction, payment: NewPayment): Promise<void> {
    const { id, amount } = payment
    await tx.run(insertPayment, payment)
    const operation = { ids: [id], paymentIds: [id], amounts: [amount] }
    await tx.run(insertPaymentOperations, { ...operation, kind: 'create', reason: null, actor: null })
  }

  /** Inserts a payment together with the response of its provider. Returns false when that needs a call. */
  async function insertWithResponse(
    tx: Transaction,
    payment: NewPayment,
    draft: PaymentProviderOperation
  ): Promise<boolean> {
    const response = providers.get(payment.provider).respondLocally?.(draft)
    if (response?.kind !== 'done' || response.facts.length !== 1) return false
    const [fact] = response.facts.map(addRankToPaymentFact)
    // A payment that is pending has the columns of a new one. Other facts change the account, too.
    if (fact?.kind !== 'intent' || fact.status !== 'pending') return false
    await tx.run(insertPendingPayment, {
      ...payment,
      object: response.paymentObjectId,
      next_step:
        response.next === undefined
          ? null
          : sealCustomerPaymentStep(secrets, response.next).toString('base64'),
      fact_object: fact.objectId,
      fact_rank: fact.rank,
      fact_amount: fact.amount
    })
    return true
  }

  return {
    resolveMethod,
    choose,
    /** Inserts the first payment of a new account, whose amount is committed. @throws `PAYMENT_ATTEMPTS_LIMITED` */
    startFirst: async (tx: Transaction, payment: NewPayment, reference: string): Promise<void> => {
      await assertBelowLimit(tx, payment)
      if (!(await insertWithResponse(tx, payment, draftOf(payment, reference)))) await insert(tx, payment)
    },
    /**
     * As `startFirst`, but marks the first operation as sent, for a caller that sends it right after the commit. Returns it;
     * undefined when its provider needs no call.
     */
    startFirstAsSent: async (
      tx: Transaction,
      payment: NewPayment,
      reference: string
    ): Promise<PreparedPaymentOperation | undefined> => {
      await assertBelowLimit(tx, payment)
      const draft = draftOf(payment, reference)
      if (await insertWithResponse(tx, payment, draft)) return undefined
      const request = providers.get(payment.provider).prepare(draft)
      await tx.run(insertSentPayment, { ...payment, request: sealPaymentRequest(secrets, request) })
      return { draft, provider: payment.provider, request, ageSeconds: 0 }
    },
    /**
     * Starts a payment of the amount that no other payment covers. The caller holds the account's lock.
     * @throws `PAYMENT_ATTEMPTS_LIMITED`, `PAYMENT_NOTHING_DUE`, `PAYMENT_ORDER_FROZEN`, and as `resolveMethod`
     */
    start: async (tx: Transaction, account: PayableAccount, given: PaymentStart): Promise<void> => {
      const payment = choose(account, given)
      const { order_id, amount } = payment
      await assertBelowLimit(tx, payment)
      if (account.frozen_at !== null) throw canceledOrderNotPayableError()
      if (amount <= 0 || (await tx.run(reservePaymentAmount, { order_id, amount })) === 0)
        throw nothingDueForOrderError()
      await insert(tx, payment)
    }
  }
}
export type PaymentStarter = ReturnType<typeof createPaymentStarter>

/** The first operation of a new payment. */
const draftOf = (
  { id, order_id: orderId, method, amount, currency }: NewPayment,
  reference: string
): PaymentProviderOperation => ({
  id,
  kind: 'create',
  amount,
  reference,
  payment: { id, orderId, method, amount, currency, objectId: null }
})
