import { found } from '../../kernel/errors.ts'
import { derivedId, newId } from '../../kernel/ids.ts'
import type { Database, Queryable, Transaction } from '../../platform/postgres/database.ts'
import type { NewAccount } from './accounts/service.ts'
import {
  methodUnknown,
  nothingDue,
  orderFrozen,
  orderNotFound,
  providerUnknown,
  refundTooMuch
} from './errors.ts'
import { type Fact, type RankedFact, ranked } from './facts/fact.ts'
import { type AccountState, reduceAccount, reducePayment, toLetGo } from './facts/reducer.ts'
import type { AccountRow } from './facts/repository.ts'
import type { PaymentChange, PaymentListener, PaymentsApi } from './index.ts'
import type { Choice } from './payments/start.ts'

type Operation = {
  kind: 'create' | 'capture' | 'void' | 'refund'
  id: string
  amount: number
  isOpen: boolean
}
type Payment = Required<Choice> & {
  id: string
  amount: number
  facts: RankedFact[]
  operations: Operation[]
}
/** An order's account, and what became of it. */
type Book = { -readonly [K in keyof (AccountRow & AccountState)]: (AccountRow & AccountState)[K] } & {
  payments: Payment[]
}

const METHODS: Readonly<Record<string, readonly string[]>> = {
  sandbox: ['card'],
  manual: ['bank_transfer', 'cash_on_delivery', 'on_account']
}

/**
 * Payments in memory that keep the contract of `PaymentsApi`, for tests of those who ask it. What was decided is asked of a
 * provider when somebody calls `proceed`, and not before. Transactions on one order must not overlap.
 */
export type FakePayments = PaymentsApi & {
  /** The customer pays all that is left, or a part; the listener has been told when this returns. */
  pay(orderId: string, amountMinor?: number): Promise<void>
  /** It is held, and not yet taken. */
  hold(orderId: string): Promise<void>
  /** A provider says something of the latest payment of an order. */
  tell(orderId: string, ...facts: readonly Pick<Fact, 'kind' | 'status' | 'amount'>[]): Promise<void>
  /** From now on providers do not answer: what is asked stays open. */
  silence(isSilent: boolean): void
}

/** `database`: where it begins transactions of its own, such as that of the shop under test. */
export function fakePayments(database: () => Pick<Database, 'transaction'>): FakePayments {
  const books = new Map<string, Book>()
  const drafts = new WeakMap<object, Map<string, Book>>()
  let listener: PaymentListener | undefined
  let isSilent = false

  /** What a transaction changes is seen by itself alone, until it is committed. */
  function draftsOf(tx: Transaction): Map<string, Book> {
    const known = drafts.get(tx)
    if (known !== undefined) return known
    const opened = new Map<string, Book>()
    drafts.set(tx, opened)
    tx.afterCommit(() => {
      for (const [id, book] of opened) books.set(id, book)
    })
    return opened
  }
  function bookOf(tx: Transaction, orderId: string): Book {
    const own = draftsOf(tx)
    const book = own.get(orderId) ?? structuredClone(found(books.get(orderId), orderNotFound))
    own.set(orderId, book)
    return book
  }

  async function settle(tx: Transaction, book: Book): Promise<PaymentChange> {
    const { order_id: orderId, due, status: before } = book
    const states = book.payments.map(statesOf)
    const state = reduceAccount(due, states)
    const isFrozen = book.frozen_at !== null
    for (const { payment } of toLetGo(states, state, { due, isFrozen }).filter(({ isBusy }) => !isBusy))
      payment.operations.push({ kind: 'void', id: newId(), amount: payment.amount, isOpen: true })
    Object.assign(book, state, { is_overpaid: state.isOverpaid, is_disputed: state.isDisputed })
    const isSettled = states.every(({ isBusy, isOpen }) => !isBusy && !isOpen)
    const openMethods = states.filter(({ isOpen }) => isOpen).map(({ payment }) => payment.method ?? '')
    const change = { ...state, orderId, due, before, isFrozen, isSettled, openMethods }
    await listener?.(tx, change)
    return change
  }

  function start(book: Book, id: string, { provider = 'sandbox', method }: Choice): string {
    const methods = METHODS[provider]
    if (methods === undefined) throw providerUnknown({ details: { providers: Object.keys(METHODS) } })
    const by = method ?? methods[0] ?? ''
    if (!methods.includes(by)) throw methodUnknown({ details: { methods } })
    if (book.frozen_at !== null) throw orderFrozen()
    const amount = book.due - book.committed
    if (amount <= 0) throw nothingDue()
    const create: Operation = { kind: 'create', id, amount, isOpen: true }
    book.payments.push({ id, provider, method: by, amount, facts: [], operations: [create] })
    book.committed += amount
    return by
  }

  /** What the provider answers to one operation. */
  const answers: Record<Operation['kind'], (payment: Payment, operation: Operation) => TellableFact[]> = {
    create: ({ amount }) => [{ kind: 'intent', status: 'pending', amount }],
    void: payment =>
      statesOf(payment).captured > 0 ? [] : [{ kind: 'intent', status: 'canceled', amount: payment.amount }],
    capture: (_payment, { amount }) => [
      { kind: 'capture', status: 'succeeded', amount },
      { kind: 'authorization', status: 'released', amount }
    ],
    refund: (_payment, { id, amount }) => [{ kind: 'refund', status: 'succeeded', amount, objectId: id }]
  }

  async function proceed(orderId: string): Promise<void> {
    const isLeft = () => books.get(orderId)?.payments.some(({ operations }) => operations.some(isOpenNow))
    while (!isSilent && isLeft())
      await database().transaction(async tx => {
        const book = bookOf(tx, orderId)
        const payment = book.payments.find(({ operations }) => operations.some(isOpenNow))
        const operation = payment?.operations.find(isOpenNow)
        if (payment === undefined || operation === undefined) return
        operation.isOpen = false
        record(payment, book.currency, answers[operation.kind](payment, operation))
        await settle(tx, book)
      })
  }

  async function tell(orderId: string, ...facts: readonly TellableFact[]): Promise<void> {
    await database().transaction(async tx => {
      const book = bookOf(tx, orderId)
      const payment = book.payments.at(-1)
      if (payment === undefined) throw new Error('no payment of this order was begun')
      record(payment, book.currency, facts)
      await settle(tx, book)
    })
  }

  /** Begins a payment when none is open; answers what it asks for. */
  async function begun(orderId: string): Promise<number> {
    await database().transaction(async tx => {
      const book = bookOf(tx, orderId)
      if (!book.payments.some(payment => statesOf(payment).isOpen)) start(book, newId(), {})
    })
    await proceed(orderId)
    return books.get(orderId)?.payments.at(-1)?.amount ?? 0
  }

  return {
    listen: wanted => {
      listener = wanted
    },
    open: async (tx, account, first) => {
      const book = newBook(account)
      draftsOf(tx).set(account.orderId, book)
      return first !== undefined && book.due > 0 ? start(book, account.orderId, first) : undefined
    },
    proceed,
    freeze: async (tx, orderId) => {
      const book = bookOf(tx, orderId)
      book.frozen_at ??= new Date()
      for (const payment of book.payments)
        for (const create of payment.operations.filter(each => isOpenNow(each) && each.kind === 'create')) {
          create.isOpen = false
          record(payment, book.currency, [{ kind: 'intent', status: 'canceled', amount: payment.amount }])
        }
      return settle(tx, book)
    },
    thaw: async (tx, orderId) => {
      bookOf(tx, orderId).frozen_at = null
    },
    changeDue: async (tx, orderId, dueMinor) => {
      const book = bookOf(tx, orderId)
      book.due = dueMinor
      return settle(tx, book)
    },
    reissue: async (tx, orderId, customerId) => {
      const book = bookOf(tx, orderId)
      book.customer_id = customerId ?? book.customer_id
      book.token_version += 1
      return book.token_version
    },
    forget: async (tx, _customerId, orderIds) => {
      for (const id of orderIds.filter(each => books.has(each) || draftsOf(tx).has(each))) {
        const book = bookOf(tx, id)
        book.customer_id = null
        book.token_version += 1
      }
    },
    lock: async (tx, orderId) =>
      books.has(orderId) || draftsOf(tx).has(orderId) ? bookOf(tx, orderId) : undefined,
    openMethods: async (tx, orderId) =>
      bookOf(tx, orderId)
        .payments.filter(payment => statesOf(payment).isOpen)
        .map(({ method }) => method ?? ''),
    capture: async (tx, orderId, { id, amountMinor }) => {
      const book = bookOf(tx, orderId)
      let left = amountMinor
      for (const payment of book.payments) {
        const amount = Math.min(left, statesOf(payment).authorized)
        if (amount <= 0 || payment.operations.some(isOpenNow)) continue
        const operationId = derivedId(id, `capture:${payment.id}`)
        payment.operations.push({ kind: 'capture', id: operationId, amount, isOpen: true })
        left -= amount
      }
      await settle(tx, book)
    },
    requireRefundRight: () => {},
    refund: async (tx, orderId, { id, amountMinor }) => {
      const book = bookOf(tx, orderId)
      let left = amountMinor
      for (const payment of book.payments.toReversed()) {
        const { captured, refunded, refunding } = statesOf(payment)
        const amount = Math.min(left, captured - refunded - refunding)
        if (amount <= 0) continue
        const operationId = derivedId(id, `refund:${payment.id}`)
        payment.operations.push({ kind: 'refund', id: operationId, amount, isOpen: true })
        left -= amount
      }
      if (left > 0) throw refundTooMuch({ details: { available: amountMinor - left } })
      await settle(tx, book)
    },
    reconcile: async ({ since }) => ({
      since,
      looked: 0,
      findings: [],
      total: 0,
      recorded: 0,
      quarantined: 0
    }),
    figures: async () => [],
    quarantined: async () => 0,
    find: async (db: Queryable, orderId) =>
      found(drafts.get(db)?.get(orderId) ?? books.get(orderId), orderNotFound),
    pay: async (orderId, amountMinor) => {
      const asked = await begun(orderId)
      const amount = amountMinor ?? asked
      await tell(
        orderId,
        { kind: 'intent', status: 'succeeded', amount },
        { kind: 'capture', status: 'succeeded', amount }
      )
    },
    hold: async orderId => {
      const amount = await begun(orderId)
      await tell(orderId, { kind: 'authorization', status: 'held', amount })
    },
    tell,
    silence: wanted => {
      isSilent = wanted
    }
  }
}

type TellableFact = Pick<Fact, 'kind' | 'status' | 'amount'> & { readonly objectId?: string }

const isOpenNow = ({ isOpen }: Operation) => isOpen

function statesOf(payment: Payment) {
  const { facts, amount, operations } = payment
  const refunds = operations.filter(each => each.isOpen && each.kind === 'refund')
  const state = reducePayment(
    facts,
    refunds.map(refund => ({ id: refund.id, amount: refund.amount }))
  )
  return { ...state, amount, payment, isBusy: operations.some(isOpenNow) }
}

function record({ id, facts }: Payment, currency: string, told: readonly TellableFact[]): void {
  for (const { objectId = id, ...fact } of told) facts.push(ranked({ ...fact, objectId, currency }))
}

const newBook = ({ orderId, customerId, currency, dueMinor, tokenVersion }: NewAccount): Book => {
  const state = reduceAccount(dueMinor, [])
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
