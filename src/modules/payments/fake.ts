import { found } from '../../kernel/errors.ts'
import { derivedId, newId } from '../../kernel/ids.ts'
import type { Database, Queryable, Transaction } from '../../platform/postgres/database.ts'
import type { NewPaymentAccount } from './accounts/service.ts'
import {
  methodUnknown,
  nothingDue,
  orderFrozen,
  orderNotFound,
  providerUnknown,
  refundTooMuch
} from './errors.ts'
import { type PaymentFact, type RankedPaymentFact, rankPaymentFact } from './facts/fact.ts'
import {
  derivePaymentAccountState,
  derivePaymentState,
  type PaymentAccountState,
  selectPaymentsToVoid
} from './facts/reducer.ts'
import type { PaymentAccountRow } from './facts/repository.ts'
import type { PaymentChange, PaymentListener, PaymentsApi } from './index.ts'
import type { PaymentMethodChoice } from './payments/start.ts'

type Operation = {
  kind: 'create' | 'capture' | 'void' | 'refund'
  id: string
  amount: number
  isOpen: boolean
}
type Payment = Required<PaymentMethodChoice> & {
  id: string
  amount: number
  facts: RankedPaymentFact[]
  operations: Operation[]
}
/** An order's account, its state and its payments. */
type FakeAccount = {
  -readonly [K in keyof (PaymentAccountRow & PaymentAccountState)]: (PaymentAccountRow &
    PaymentAccountState)[K]
} & {
  payments: Payment[]
}

const METHODS: Readonly<Record<string, readonly string[]>> = {
  sandbox: ['card'],
  manual: ['bank_transfer', 'cash_on_delivery', 'on_account']
}
const NOTHING_FOUND = { looked: 0, findings: [], total: 0, recorded: 0, quarantined: 0 }

/**
 * In-memory implementation of `PaymentsApi` for tests of other modules. Operations are sent only by `sendOperations`.
 * Transactions on one order must not overlap.
 */
export type FakePayments = PaymentsApi & {
  /** The customer pays the amount due, or a part. The listener has run when this returns. */
  pay(orderId: string, amountMinor?: number): Promise<void>
  /** Authorizes the amount due without a capture. */
  authorize(orderId: string): Promise<void>
  /** Records facts of the latest payment of an order, as a provider reports them. */
  reportFacts(
    orderId: string,
    ...facts: readonly Pick<PaymentFact, 'kind' | 'status' | 'amount'>[]
  ): Promise<void>
  /** While silent, providers do not respond and operations stay open. */
  setSilent(isSilent: boolean): void
}

/** `database` opens its own transactions: it is that of the shop under test. */
export function fakePayments(database: () => Pick<Database, 'transaction'>): FakePayments {
  const accounts = new Map<string, FakeAccount>()
  const drafts = new WeakMap<object, Map<string, FakeAccount>>()
  let listener: PaymentListener | undefined
  let isSilent = false

  /** Changes of a transaction are visible only to itself until it commits. */
  function draftsOf(tx: Transaction): Map<string, FakeAccount> {
    const known = drafts.get(tx)
    if (known !== undefined) return known
    const opened = new Map<string, FakeAccount>()
    drafts.set(tx, opened)
    tx.afterCommit(() => {
      for (const [id, account] of opened) accounts.set(id, account)
    })
    return opened
  }
  function accountOf(tx: Transaction, orderId: string): FakeAccount {
    const own = draftsOf(tx)
    const account = own.get(orderId) ?? structuredClone(found(accounts.get(orderId), orderNotFound))
    own.set(orderId, account)
    return account
  }

  async function settle(tx: Transaction, account: FakeAccount): Promise<PaymentChange> {
    const { order_id: orderId, due, status: previousStatus } = account
    const states = account.payments.map(stateOf)
    const state = derivePaymentAccountState(due, states)
    const isFrozen = account.frozen_at !== null
    for (const { payment } of selectPaymentsToVoid(states, state, { due, isFrozen }).filter(
      ({ isBusy }) => !isBusy
    ))
      payment.operations.push({ kind: 'void', id: newId(), amount: payment.amount, isOpen: true })
    Object.assign(account, state, { is_overpaid: state.isOverpaid, is_disputed: state.isDisputed })
    const isSettled = states.every(({ isBusy, isOpen }) => !isBusy && !isOpen)
    const openMethods = states.filter(({ isOpen }) => isOpen).map(({ payment }) => payment.method ?? '')
    const change = { ...state, orderId, due, previousStatus, isFrozen, isSettled, openMethods }
    await listener?.(tx, change)
    return change
  }

  function start(
    account: FakeAccount,
    id: string,
    { provider = 'sandbox', method }: PaymentMethodChoice
  ): string {
    const methods = METHODS[provider]
    if (methods === undefined) throw providerUnknown({ details: { providers: Object.keys(METHODS) } })
    const by = method ?? methods[0] ?? ''
    if (!methods.includes(by)) throw methodUnknown({ details: { methods } })
    if (account.frozen_at !== null) throw orderFrozen()
    const amount = account.due - account.committed
    if (amount <= 0) throw nothingDue()
    const create: Operation = { kind: 'create', id, amount, isOpen: true }
    account.payments.push({ id, provider, method: by, amount, facts: [], operations: [create] })
    account.committed += amount
    return by
  }

  /** Facts of the provider's response to an operation. */
  const responses: Record<Operation['kind'], (payment: Payment, operation: Operation) => ReportedFact[]> = {
    create: ({ amount }) => [{ kind: 'intent', status: 'pending', amount }],
    void: payment =>
      stateOf(payment).captured > 0 ? [] : [{ kind: 'intent', status: 'canceled', amount: payment.amount }],
    capture: (_payment, { amount }) => [
      { kind: 'capture', status: 'succeeded', amount },
      { kind: 'authorization', status: 'released', amount }
    ],
    refund: (_payment, { id, amount }) => [{ kind: 'refund', status: 'succeeded', amount, objectId: id }]
  }

  async function sendOperations(orderId: string): Promise<void> {
    const isLeft = () =>
      accounts.get(orderId)?.payments.some(({ operations }) => operations.some(isOpenOperation))
    while (!isSilent && isLeft())
      await database().transaction(async tx => {
        const account = accountOf(tx, orderId)
        const payment = account.payments.find(({ operations }) => operations.some(isOpenOperation))
        const operation = payment?.operations.find(isOpenOperation)
        if (payment === undefined || operation === undefined) return
        operation.isOpen = false
        record(payment, account.currency, responses[operation.kind](payment, operation))
        await settle(tx, account)
      })
  }

  async function reportFacts(orderId: string, ...facts: readonly ReportedFact[]): Promise<void> {
    await database().transaction(async tx => {
      const account = accountOf(tx, orderId)
      const payment = account.payments.at(-1)
      if (payment === undefined) throw new Error('the order has no payment')
      record(payment, account.currency, facts)
      await settle(tx, account)
    })
  }

  /** Starts a payment when none is open, and returns its amount. */
  async function ensureOpenPayment(orderId: string): Promise<number> {
    await database().transaction(async tx => {
      const account = accountOf(tx, orderId)
      if (!account.payments.some(payment => stateOf(payment).isOpen)) start(account, newId(), {})
    })
    await sendOperations(orderId)
    return accounts.get(orderId)?.payments.at(-1)?.amount ?? 0
  }

  return {
    registerHooks: value => {
      listener = value
    },
    openAccount: async (tx, fields, first) => {
      const account = newAccount(fields)
      draftsOf(tx).set(fields.orderId, account)
      return first !== undefined && account.due > 0 ? start(account, fields.orderId, first) : undefined
    },
    sendOperations: sendOperations,
    freeze: async (tx, orderId) => {
      const account = accountOf(tx, orderId)
      account.frozen_at ??= new Date()
      for (const payment of account.payments)
        for (const create of payment.operations.filter(
          each => isOpenOperation(each) && each.kind === 'create'
        )) {
          create.isOpen = false
          record(payment, account.currency, [{ kind: 'intent', status: 'canceled', amount: payment.amount }])
        }
      return settle(tx, account)
    },
    unfreeze: async (tx, orderId) => {
      accountOf(tx, orderId).frozen_at = null
    },
    updateAmountDue: async (tx, orderId, dueMinor) => {
      const account = accountOf(tx, orderId)
      account.due = dueMinor
      return settle(tx, account)
    },
    reissueOrderToken: async (tx, orderId, customerId) => {
      const account = accountOf(tx, orderId)
      account.customer_id = customerId ?? account.customer_id
      account.token_version += 1
      return account.token_version
    },
    erase: async (tx, _customerId, orderIds) => {
      for (const id of orderIds.filter(each => accounts.has(each) || draftsOf(tx).has(each))) {
        const account = accountOf(tx, id)
        account.customer_id = null
        account.token_version += 1
      }
    },
    lockAccount: async (tx, orderId) =>
      accounts.has(orderId) || draftsOf(tx).has(orderId) ? accountOf(tx, orderId) : undefined,
    listOpenMethods: async (tx, orderId) =>
      accountOf(tx, orderId)
        .payments.filter(payment => stateOf(payment).isOpen)
        .map(({ method }) => method ?? ''),
    capture: async (tx, orderId, { id, amountMinor }) => {
      const account = accountOf(tx, orderId)
      let left = amountMinor
      for (const payment of account.payments) {
        const amount = Math.min(left, stateOf(payment).authorized)
        if (amount <= 0 || payment.operations.some(isOpenOperation)) continue
        const operationId = derivedId(id, `capture:${payment.id}`)
        payment.operations.push({ kind: 'capture', id: operationId, amount, isOpen: true })
        left -= amount
      }
      await settle(tx, account)
    },
    assertCanRefund: () => {},
    refund: async (tx, orderId, { id, amountMinor }) => {
      const account = accountOf(tx, orderId)
      let left = amountMinor
      for (const payment of account.payments.toReversed()) {
        const { captured, refunded, refunding } = stateOf(payment)
        const amount = Math.min(left, captured - refunded - refunding)
        if (amount <= 0) continue
        const operationId = derivedId(id, `refund:${payment.id}`)
        payment.operations.push({ kind: 'refund', id: operationId, amount, isOpen: true })
        left -= amount
      }
      if (left > 0) throw refundTooMuch({ details: { available: amountMinor - left } })
      await settle(tx, account)
    },
    reconcile: async ({ since }) => ({ since, ...NOTHING_FOUND }),
    statistics: async () => [],
    countQuarantinedEvents: async () => 0,
    findAccount: async (db: Queryable, orderId) =>
      found(drafts.get(db)?.get(orderId) ?? accounts.get(orderId), orderNotFound),
    pay: async (orderId, amountMinor) => {
      const openAmount = await ensureOpenPayment(orderId)
      const amount = amountMinor ?? openAmount
      await reportFacts(
        orderId,
        { kind: 'intent', status: 'succeeded', amount },
        { kind: 'capture', status: 'succeeded', amount }
      )
    },
    authorize: async orderId => {
      const amount = await ensureOpenPayment(orderId)
      await reportFacts(orderId, { kind: 'authorization', status: 'held', amount })
    },
    reportFacts,
    setSilent: value => {
      isSilent = value
    }
  }
}

type ReportedFact = Pick<PaymentFact, 'kind' | 'status' | 'amount'> & { readonly objectId?: string }

const isOpenOperation = ({ isOpen }: Operation) => isOpen

function stateOf(payment: Payment) {
  const { facts, amount, operations } = payment
  const refunds = operations.filter(each => each.isOpen && each.kind === 'refund')
  const state = derivePaymentState(
    facts,
    refunds.map(refund => ({ id: refund.id, amount: refund.amount }))
  )
  return { ...state, amount, payment, isBusy: operations.some(isOpenOperation) }
}

function record({ id, facts }: Payment, currency: string, reported: readonly ReportedFact[]): void {
  for (const { objectId = id, ...fact } of reported)
    facts.push(rankPaymentFact({ ...fact, objectId, currency }))
}

const newAccount = ({
  orderId,
  customerId,
  currency,
  dueMinor,
  tokenVersion
}: NewPaymentAccount): FakeAccount => {
  const state = derivePaymentAccountState(dueMinor, [])
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
