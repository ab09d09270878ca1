import { describe, expect, test } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { usePayments } from '../../../test/support/payments.ts'
import { portsOf } from '../../../test/support/ports.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { transactionsInMemory } from '../../../test/support/transactions-in-memory.ts'
import { found } from '../../kernel/errors.ts'
import { newId } from '../../kernel/ids.ts'
import { provide } from '../../kernel/ports.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { payableOrderNotFoundError } from './errors.ts'
import { fakePayments } from './fake.ts'
import {
  type ChangedPaymentAccountState,
  type LockedOrderPaymentAccount,
  orderPaymentHooksPort,
  orderPaymentsOfApi,
  type PaymentChangeListener,
  type PaymentsApi
} from './index.ts'

shareShops()

type Subject = {
  payments: PaymentsApi
  db: Database
  /** The customer of the orders. */
  customerId: string
  pay(orderId: string): Promise<unknown>
  authorize(orderId: string): Promise<unknown>
  /** The committed changes that the listener got. */
  changes: readonly ChangedPaymentAccountState[]
}

async function useReal({ capture = 'automatic' } = {}): Promise<Subject> {
  const { api, db, buyer, intent, act, changes } = await usePayments({
    settings: { CARTWRIGHT__PAYMENTS__CAPTURE: capture }
  })
  const pay = async (orderId: string) => act((await intent(orderId)).id, 'pay')
  return { payments: api, db, customerId: buyer.id, pay, authorize: pay, changes }
}

async function useFake(): Promise<Subject> {
  const payments = fakePayments(() => transactionsInMemory)
  const { pay, authorize } = payments
  const changes: ChangedPaymentAccountState[] = []
  const onChange: PaymentChangeListener = async (tx, _account, change) => {
    tx.afterCommit(() => changes.push(change))
  }
  payments.setPorts(portsOf(provide(orderPaymentHooksPort, 'test', { onChange })))
  return { payments, db: transactionsInMemory, customerId: newId(), pay: id => pay(id), authorize, changes }
}

/** The contract of `PaymentsApi`, which the fake must keep, too. */
describe.each([
  ['payments', useReal],
  ['the fake of payments', useFake]
])('%s', (_what, use) => {
  /** Returns the committed changes that the listener got. */
  async function useChanges(options = {}) {
    const subject = await use(options)
    const { payments, db, customerId, changes } = subject
    const forOrders = orderPaymentsOfApi(payments)
    const withAccount = <T>(orderId: string, work: (account: LockedOrderPaymentAccount) => Promise<T>) =>
      db.transaction(async tx =>
        work(found(await forOrders.lockAccount(tx, orderId), payableOrderNotFoundError))
      )
    const open = async (dueMinor: number, first?: object) => {
      const orderId = newId()
      const account = { orderId, customerId, currency: 'EUR', dueMinor, tokenVersion: 1, reference: 'A1' }
      await db.transaction(tx => payments.openAccount(tx, account, first))
      return orderId
    }
    const account = (orderId: string) => payments.findAccount(db, orderId)
    const waitForChange = (orderId: string, wanted: Partial<ChangedPaymentAccountState>) =>
      until(JSON.stringify(wanted), () =>
        changes.some(
          change =>
            change.orderId === orderId &&
            Object.entries(wanted).every(
              ([key, value]) => change[key as keyof ChangedPaymentAccountState] === value
            )
        )
      )
    const changesOf = (orderId: string) => changes.filter(change => change.orderId === orderId)
    return { ...subject, forOrders, withAccount, open, account, waitForChange, changesOf }
  }

  test('a payment account is opened in the transaction of the order, and rolled back with it', async () => {
    const { payments, db, open, account, withAccount } = await useChanges()
    const orderId = newId()
    const failing = db.transaction(async tx => {
      await payments.openAccount(
        tx,
        { orderId, customerId: null, currency: 'EUR', dueMinor: 5, tokenVersion: 1, reference: 'A1' },
        {}
      )
      expect(await payments.findAccount(tx, orderId)).toMatchObject({
        due: 5,
        committed: 5,
        status: 'unpaid'
      })
      throw new Error('refused')
    })
    await expect(failing).rejects.toThrow('refused')
    const missing = { code: 'PAYMENT_ORDER_NOT_FOUND' }
    await expect(payments.findAccount(db, orderId)).rejects.toMatchObject(missing)
    await expect(withAccount(orderId, locked => locked.freeze())).rejects.toMatchObject(missing)
    expect(await account(await open(0, {}))).toMatchObject({ status: 'paid', committed: 0 })
    await expect(open(5, { provider: 'unknown' })).rejects.toMatchObject({ code: 'PAYMENT_PROVIDER_UNKNOWN' })
    await expect(open(5, { method: 'shells' })).rejects.toMatchObject({ code: 'PAYMENT_METHOD_UNKNOWN' })
  })

  test("the payments module returns the method of an order's first payment", async () => {
    const { payments, db, customerId } = await useChanges()
    const begin = (dueMinor: number, first?: object) =>
      db.transaction(tx => {
        const account = { orderId: newId(), customerId, currency: 'EUR', tokenVersion: 1, reference: 'A1' }
        return payments.openAccount(tx, { ...account, dueMinor }, first)
      })
    expect(await begin(5, { provider: 'sandbox' })).toBe('card')
    expect(await begin(5, { provider: 'manual' })).toBe('bank_transfer')
    expect([await begin(5), await begin(0, { provider: 'manual' })]).toEqual([undefined, undefined])
  })

  test('a captured payment is reported to other modules in the transaction that records it', async () => {
    const { payments, open, account, waitForChange, changesOf, pay } = await useChanges()
    const orderId = await open(900, {})
    await payments.sendOperations(orderId)
    expect(changesOf(orderId)).toMatchObject([
      {
        orderId,
        due: 900,
        previousStatus: 'unpaid',
        status: 'unpaid',
        isSettled: false,
        openMethods: ['card']
      }
    ])
    await payments.sendOperations(orderId)
    expect(changesOf(orderId)).toHaveLength(1)
    await pay(orderId)
    await waitForChange(orderId, { previousStatus: 'unpaid', status: 'paid', captured: 900, isSettled: true })
    expect(changesOf(orderId).at(-1)?.openMethods).toEqual([])
    expect(await account(orderId)).toMatchObject({ status: 'paid', captured: 900, is_overpaid: false })
  })

  test('an authorization is reported to other modules, and voided when the order is canceled', async () => {
    const { payments, open, waitForChange, authorize, withAccount } = await useChanges({ capture: 'manual' })
    const orderId = await open(900, {})
    await payments.sendOperations(orderId)
    await authorize(orderId)
    await waitForChange(orderId, { status: 'authorized', authorized: 900, isSettled: false })
    expect(await withAccount(orderId, locked => locked.freeze())).toMatchObject({
      isFrozen: true,
      isSettled: false
    })
    await payments.sendOperations(orderId)
    await waitForChange(orderId, {
      status: 'unpaid',
      authorized: 0,
      committed: 0,
      isFrozen: true,
      isSettled: true
    })
  })

  test('freezing an account cancels unsent payments immediately, and rejects captures until it is unfrozen', async () => {
    const { open, account, withAccount } = await useChanges()
    const orderId = await open(900, {})
    const frozen = await withAccount(orderId, locked => locked.freeze())
    expect(frozen).toMatchObject({ isFrozen: true, isSettled: true, committed: 0 })
    expect((await account(orderId)).frozen_at).not.toBeNull()
    await withAccount(orderId, locked => locked.unfreeze())
    expect((await account(orderId)).frozen_at).toBeNull()
  })

  test('the requested part of an authorization is captured once, and the open payment methods are listed', async () => {
    const { payments, db, open, waitForChange, authorize, account, withAccount, forOrders } =
      await useChanges({ capture: 'manual' })
    const orderId = await open(900, {})
    const methods = () => withAccount(orderId, locked => locked.listOpenMethods())
    await payments.sendOperations(orderId)
    expect(await methods()).toEqual(['card'])
    await authorize(orderId)
    await waitForChange(orderId, { status: 'authorized', authorized: 900 })
    const capture = () =>
      withAccount(orderId, locked => locked.capture({ id: newId(), amountMinor: 600, actor: null }))
    await capture()
    await capture()
    await payments.sendOperations(orderId)
    await waitForChange(orderId, { captured: 600, authorized: 0, isSettled: true })
    expect(await account(orderId)).toMatchObject({ captured: 600, committed: 600 })
    expect(await methods()).toEqual([])
    expect(await withAccount(orderId, async locked => locked.state())).toMatchObject({ captured: 600 })
    expect(await db.transaction(tx => forOrders.lockAccount(tx, newId()))).toBeUndefined()
  })

  test('the payments module refunds at most the captured amount', async () => {
    const { payments, open, account, waitForChange, pay, withAccount } = await useChanges()
    const orderId = await open(900, {})
    await payments.sendOperations(orderId)
    await pay(orderId)
    await waitForChange(orderId, { status: 'paid' })
    const refund = (amountMinor: number) =>
      withAccount(orderId, locked =>
        locked.refund({ id: newId(), amountMinor, reason: 'broken', actor: null })
      )
    await expect(refund(901)).rejects.toMatchObject({
      code: 'PAYMENT_REFUND_TOO_MUCH',
      details: { available: 900 }
    })
    await refund(400)
    await payments.sendOperations(orderId)
    await waitForChange(orderId, { status: 'partially_refunded', refunded: 400, refunding: 0 })
    await refund(500)
    await payments.sendOperations(orderId)
    await waitForChange(orderId, { status: 'refunded', refunded: 900 })
    await expect(refund(1)).rejects.toMatchObject({ details: { available: 0 } })
    expect((await account(orderId)).refunded).toBe(900)
  })

  test('a changed amount due voids larger open payments and makes a paid order overpaid', async () => {
    const { payments, open, account, waitForChange, pay, withAccount } = await useChanges()
    const change = (orderId: string, due: number) =>
      withAccount(orderId, locked => locked.updateAmountDue(due))
    const orderId = await open(900, {})
    await payments.sendOperations(orderId)
    expect(await change(orderId, 600)).toMatchObject({ due: 600, committed: 900, isSettled: false })
    await payments.sendOperations(orderId)
    await waitForChange(orderId, { due: 600, committed: 0, isSettled: true })
    await pay(orderId)
    await waitForChange(orderId, { status: 'paid', captured: 600 })
    expect(await change(orderId, 500)).toMatchObject({ status: 'paid', isOverpaid: true })
    expect(await change(orderId, 700)).toMatchObject({ status: 'partially_paid', isOverpaid: false })
    expect(await change(orderId, 600)).toMatchObject({ status: 'paid', isOverpaid: false })
    expect(await account(orderId)).toMatchObject({ due: 600, status: 'paid' })
  })

  test('the payments module reissues the order token and assigns the order to a customer', async () => {
    const { open, account, withAccount } = await useChanges()
    const [orderId, owner] = [await open(5), newId()]
    expect(await withAccount(orderId, locked => locked.reissueOrderToken(null))).toBe(2)
    expect(await withAccount(orderId, locked => locked.reissueOrderToken(owner))).toBe(3)
    expect(await account(orderId)).toMatchObject({ customer_id: owner, token_version: 3 })
  })

  test('erasing a customer in the payments module keeps the amounts', async () => {
    const { payments, db, open, account, customerId, pay, waitForChange, forOrders } = await useChanges()
    const [paid, other] = [await open(900, {}), await open(5)]
    await payments.sendOperations(paid)
    await pay(paid)
    await waitForChange(paid, { status: 'paid' })
    await db.transaction(tx => forOrders.erase(tx, customerId, [paid, newId()]))
    expect(await account(paid)).toMatchObject({ customer_id: null, token_version: 2, captured: 900 })
    expect(await account(other)).toMatchObject({ customer_id: customerId, token_version: 1 })
  })
})
