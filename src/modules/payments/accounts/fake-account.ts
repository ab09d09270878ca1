import { addRankToPaymentFact, type PaymentFact, type RankedPaymentFact } from '../facts/fact.ts'
import {
  deriveOrderPaymentAccountState,
  derivePaymentState,
  type OrderPaymentAccountState
} from '../facts/reducer.ts'
import type { OrderPaymentAccountRow } from '../facts/repository.ts'
import type { PaymentProviderAndMethodChoice } from '../payments/start.ts'
import type { NewOrderPaymentAccount } from './service.ts'

export type FakePaymentOperation = {
  kind: 'create' | 'capture' | 'void' | 'refund'
  id: string
  amount: number
  isOpen: boolean
}
export type FakePayment = Required<PaymentProviderAndMethodChoice> & {
  id: string
  amount: number
  facts: RankedPaymentFact[]
  operations: FakePaymentOperation[]
}
type AccountColumns = OrderPaymentAccountRow & OrderPaymentAccountState
/** The account of an order in `fakePayments`, with its state and its payments. */
export type FakeOrderPaymentAccount = {
  -readonly [K in keyof AccountColumns]: AccountColumns[K]
} & {
  payments: FakePayment[]
}

export type ReportedFakePaymentFact = Pick<PaymentFact, 'kind' | 'status' | 'amount'> & {
  readonly objectId?: string
}

export const isOpenFakePaymentOperation = ({ isOpen }: FakePaymentOperation) => isOpen

/** Derives the state of a payment from its facts and open refunds. */
export function fakePaymentStateOf(payment: FakePayment) {
  const { facts, amount, operations } = payment
  const refunds = operations.filter(each => each.isOpen && each.kind === 'refund')
  const state = derivePaymentState(
    facts,
    refunds.map(refund => ({ id: refund.id, amount: refund.amount }))
  )
  return { ...state, amount, payment, isBusy: operations.some(isOpenFakePaymentOperation) }
}

/** Facts of the provider's response to an operation. */
export const fakePaymentResponses: Record<
  FakePaymentOperation['kind'],
  (payment: FakePayment, operation: FakePaymentOperation) => ReportedFakePaymentFact[]
> = {
  create: ({ amount }) => [{ kind: 'intent', status: 'pending', amount }],
  void: payment =>
    fakePaymentStateOf(payment).captured > 0
      ? []
      : [{ kind: 'intent', status: 'canceled', amount: payment.amount }],
  capture: (_payment, { amount }) => [
    { kind: 'capture', status: 'succeeded', amount },
    { kind: 'authorization', status: 'released', amount }
  ],
  refund: (_payment, { id, amount }) => [{ kind: 'refund', status: 'succeeded', amount, objectId: id }]
}

/** Adds reported facts to a payment. */
export function recordFakePaymentFacts(
  { id, facts }: FakePayment,
  currency: string,
  reported: readonly ReportedFakePaymentFact[]
): void {
  for (const { objectId = id, ...fact } of reported)
    facts.push(addRankToPaymentFact({ ...fact, objectId, currency }))
}

export const newFakeOrderPaymentAccount = ({
  orderId,
  customerId,
  currency,
  dueMinor,
  tokenVersion
}: NewOrderPaymentAccount): FakeOrderPaymentAccount => {
  const state = deriveOrderPaymentAccountState(dueMinor, [])
  return {
    ...state,
    order_id: orderId,
    customer_id: customerId,
    token_version: tokenVersion,
    currency,
    due: dueMinor,
    is_overpaid: false,
    is_disputed: false,
    frozen_at: null,
    payments: []
  }
}
