import { found } from '../../kernel/errors.ts'
import { derivedId, newId } from '../../kernel/ids.ts'
import type { PortReader } from '../../kernel/ports.ts'
import type { Database, Queryable, Transaction } from '../../platform/postgres/database.ts'
import type { PaymentChangeListener } from './accounts/changes.ts'
import {
  type FakeOrderPaymentAccount,
  type FakePayment,
  type FakePaymentOperation,
  fakePaymentResponses,
  fakePaymentStateOf,
  isOpenFakePaymentOperation,
  newFakeOrderPaymentAccount,
  type ReportedFakePaymentFact,
  recordFakePaymentFacts
} from './accounts/fake-account.ts'
import { orderPaymentHooksPort } from './accounts/hooks.ts'
import { provideOrderPayments } from './accounts/order-payments.ts'
import {
  canceledOrderNotPayableError,
  nothingDueForOrderError,
  payableOrderNotFoundError,
  paymentMethodUnknownError,
  paymentProviderUnknownError,
  refundAmountTooHighError
} from './errors.ts'
import type { PaymentFact } from './facts/fact.ts'
import { deriveOrderPaymentAccountState, selectPaymentsToVoid } from './facts/reducer.ts'
import type { ChangedPaymentAccountState, LockedOrderPaymentAccount, PaymentsApi } from './index.ts'
import type { PaymentProviderAndMethodChoice } from './payments/start.ts'

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
  /** Reports the requested refunds before their responses arrive. They count twice until `sendOperations`. */
  reportRefunds(orderId: string): Promise<void>
  /** While silent, providers do not respond and operations stay open. */
  setSilent(isSilent: boolean): void
  /** Sets the ports of payments, from which the fake reads the listener of orders. */
  setPorts(ports: PortReader): void
}

/** `database` opens its own transactions: it is that of the shop under test. */
export function fakePayments(database: () => Pick<Database, 'transaction'>): FakePayments {
  const accounts = new Map<string, FakeOrderPaymentAccount>()
  const drafts = new WeakMap<object, Map<string, FakeOrderPaymentAccount>>()
  let listener = (): PaymentChangeListener | undefined => undefined
  let isSilent = false

  /** Changes of a transaction are visible only to itself until it commits. */
  function draftsOf(tx: Transaction): Map<string, FakeOrderPaymentAccount> {
    const known = drafts.get(tx)
    if (known !== undefined) return known
    const opened = new Map<string, FakeOrderPaymentAccount>()
    drafts.set(tx, opened)
    tx.afterCommit(() => {
      for (const [id, account] of opened) accounts.set(id, account)
    })
    return opened
  }
  function accountOf(tx: Transaction, orderId: string): FakeOrderPaymentAccount {
    const own = draftsOf(tx)
    const account =
      own.get(orderId) ?? structuredClone(found(accounts.get(orderId), payableOrderNotFoundError))
    own.set(orderId, account)
    return account
  }

  function settle(account: FakeOrderPaymentAccount): ChangedPaymentAccountState {
    const { order_id: orderId, due, status: previousStatus } = account
    const states = account.payments.map(fakePaymentStateOf)
    const state = deriveOrderPaymentAccountState(due, states)
    const isFrozen = account.frozen_at !== null
    const toVoid = selectPaymentsToVoid(states, state, { due, isFrozen }).filter(({ isBusy }) => !isBusy)
    for (const { payment } of toVoid)
      payment.operations.push({ kind: 'void', id: newId(), amount: payment.amount, isOpen: true })
    const isUnchanged = Object.entries(state).every(
      ([key, value]) => !(key in account) || account[key as keyof typeof account] === value
    )
    Object.assign(account, state, { is_overpaid: state.isOverpaid, is_disputed: state.isDisputed })
    const isSettled = states.every(({ isBusy, isOpen }) => !isBusy && !isOpen)
    const openMethods = states.filter(({ isOpen }) => isOpen).map(({ payment }) => payment.method ?? '')
    return { ...state, orderId, due, previousStatus, isFrozen, isUnchanged, isSettled, openMethods }
  }

  /** Settles a change that began in payments, and passes it to orders. */
  async function report(tx: Transaction, account: FakeOrderPaymentAccount): Promise<void> {
    const change = settle(account)
    await listener()?.(tx, lockedAccount(account), change)
  }

  function start(
    account: FakeOrderPaymentAccount,
    id: string,
    { provider = 'sandbox', method }: PaymentProviderAndMethodChoice
  ): string {
    const methods = METHODS[provider]
    if (methods === undefined)
      throw paymentProviderUnknownError({ details: { providers: Object.keys(METHODS) } })
    const by = method ?? methods[0] ?? ''
    if (!methods.includes(by)) throw paymentMethodUnknownError({ details: { methods } })
    if (account.frozen_at !== null) throw canceledOrderNotPayableError()
    const amount = account.due - account.committed
    if (amount <= 0) throw nothingDueForOrderError()
    const create: FakePaymentOperation = { kind: 'create', id, amount, isOpen: true }
    account.payments.push({ id, provider, method: by, amount, facts: [], operations: [create] })
    account.committed += amount
    return by
  }

  async function sendOperations(orderId: string): Promise<void> {
    const isLeft = () =>
      accounts.get(orderId)?.payments.some(({ operations }) => operations.some(isOpenFakePaymentOperation))
    while (!isSilent && isLeft())
      await database().transaction(async tx => {
        const account = accountOf(tx, orderId)
        const payment = account.payments.find(({ operations }) => operations.some(isOpenFakePaymentOperation))
        const operation = payment?.operations.find(isOpenFakePaymentOperation)
        if (payment === undefined || operation === undefined) return
        operation.isOpen = false
        recordFakePaymentFacts(
          payment,
          account.currency,
          fakePaymentResponses[operation.kind](payment, operation)
        )
        await report(tx, account)
      })
  }

  async function reportFacts(orderId: string, ...facts: readonly ReportedFakePaymentFact[]): Promise<void> {
    await database().transaction(async tx => {
      const account = accountOf(tx, orderId)
      const payment = account.payments.at(-1)
      if (payment === undefined) throw new Error('the order has no payment')
      recordFakePaymentFacts(payment, account.currency, facts)
      await report(tx, account)
    })
  }

  /** Starts a payment when none is open, and returns its amount. */
  async function ensureOpenPayment(orderId: string): Promise<number> {
    await database().transaction(async tx => {
      const account = accountOf(tx, orderId)
      if (!account.payments.some(payment => fakePaymentStateOf(payment).isOpen)) start(account, newId(), {})
    })
    await sendOperations(orderId)
    return accounts.get(orderId)?.payments.at(-1)?.amount ?? 0
  }

  const lockedAccount = (account: FakeOrderPaymentAccount): LockedOrderPaymentAccount => ({
    state: () => account,
    settle: async () => settle(account),
    listOpenMethods: async () =>
      account.payments
        .filter(payment => fakePaymentStateOf(payment).isOpen)
        .map(({ method }) => method ?? ''),
    capture: async ({ id, amountMinor }) => {
      let left = amountMinor
      for (const payment of account.payments) {
        const amount = Math.min(left, fakePaymentStateOf(payment).authorized)
        if (amount <= 0 || payment.operations.some(isOpenFakePaymentOperation)) continue
        const operationId = derivedId(id, `capture:${payment.id}`)
        payment.operations.push({ kind: 'capture', id: operationId, amount, isOpen: true })
        left -= amount
      }
      return settle(account)
    },
    assertCanRefund: () => {},
    refund: async ({ id, amountMinor }) => {
      let left = amountMinor
      const requested: [FakePayment, FakePaymentOperation][] = []
      for (const payment of account.payments.toReversed()) {
        const { captured, refunded, refunding } = fakePaymentStateOf(payment)
        const amount = Math.min(left, captured - refunded - refunding)
        if (amount <= 0) continue
        const operationId = derivedId(id, `refund:${payment.id}`)
        requested.push([payment, { kind: 'refund', id: operationId, amount, isOpen: true }])
        left -= amount
      }
      if (left > 0) throw refundAmountTooHighError({ details: { available: amountMinor - left } })
      for (const [payment, operation] of requested) payment.operations.push(operation)
      return settle(account)
    },
    updateAmountDue: async dueMinor => {
      account.due = dueMinor
      return settle(account)
    },
    freeze: async () => {
      account.frozen_at ??= new Date()
      for (const payment of account.payments)
        for (const create of payment.operations.filter(
          each => isOpenFakePaymentOperation(each) && each.kind === 'create'
        )) {
          create.isOpen = false
          recordFakePaymentFacts(payment, account.currency, [
            { kind: 'intent', status: 'canceled', amount: payment.amount }
          ])
        }
      return settle(account)
    },
    unfreeze: async () => {
      account.frozen_at = null
      return settle(account)
    },
    reissueOrderToken: async customerId => {
      account.customer_id = customerId ?? account.customer_id
      account.token_version += 1
      return account.token_version
    }
  })

  const openAccount: PaymentsApi['openAccount'] = async (tx, fields, first) => {
    const account = newFakeOrderPaymentAccount(fields)
    draftsOf(tx).set(fields.orderId, account)
    return first !== undefined && account.due > 0 ? start(account, fields.orderId, first) : undefined
  }

  const fake: FakePayments = {
    openAccount,
    sendOperations,
    reconcile: async ({ since }) => ({ since, ...NOTHING_FOUND }),
    statistics: async () => [],
    countQuarantinedEvents: async () => 0,
    findAccount: async (db: Queryable, orderId) =>
      found(drafts.get(db)?.get(orderId) ?? accounts.get(orderId), payableOrderNotFoundError),
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
    reportRefunds: orderId =>
      database().transaction(async tx => {
        const account = accountOf(tx, orderId)
        for (const payment of account.payments)
          for (const { id, amount, isOpen, kind } of payment.operations)
            if (isOpen && kind === 'refund')
              recordFakePaymentFacts(payment, account.currency, [
                { kind, status: 'succeeded', amount, objectId: id }
              ])
        await report(tx, account)
      }),
    setSilent: value => {
      isSilent = value
    },
    setPorts: ports => {
      listener = () => ports.only(orderPaymentHooksPort)?.onChange
    }
  }
  provideOrderPayments(fake, {
    openAccountOfOrder: async (tx, fields, first) => {
      const method = await openAccount(tx, fields, first)
      if (method === undefined) return undefined
      const send = () => sendOperations(fields.orderId).then(() => ({ isUnchanged: false }))
      return { method, send }
    },
    sendOperations,
    lockAccount: async (tx, orderId) =>
      accounts.has(orderId) || draftsOf(tx).has(orderId) ? lockedAccount(accountOf(tx, orderId)) : undefined,
    erase: async (tx, _customerId, orderIds) => {
      for (const id of orderIds.filter(each => accounts.has(each) || draftsOf(tx).has(each))) {
        const account = accountOf(tx, id)
        account.customer_id = null
        account.token_version += 1
      }
    }
  })
  return fake
}
