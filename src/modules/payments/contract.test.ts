import { describe, expect, test } from 'vitest'
import { until } from '../../../test/faults/until.ts'
import { usePayments } from '../../../test/support/payments.ts'
import { transactionsInMemory } from '../../../test/support/transactions-in-memory.ts'
import { newId } from '../../kernel/ids.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { fakePayments } from './fake.ts'
import type { PaymentChange, PaymentsApi } from './index.ts'

type Subject = {
  payments: PaymentsApi
  db: Database
  /** Whose the orders are. */
  customerId: string
  pay(orderId: string): Promise<unknown>
  hold(orderId: string): Promise<unknown>
}

async function useReal({ capture = 'automatic' } = {}): Promise<Subject> {
  const { api, db, buyer, intent, act } = await usePayments({
    settings: { CARTWRIGHT__PAYMENTS__CAPTURE: capture }
  })
  const pay = async (orderId: string) => act((await intent(orderId)).id, 'pay')
  return { payments: api, db, customerId: buyer.id, pay, hold: pay }
}

async function useFake(): Promise<Subject> {
  const payments = fakePayments(() => transactionsInMemory)
  const { pay, hold } = payments
  return { payments, db: transactionsInMemory, customerId: newId(), pay: id => pay(id), hold }
}

/** What orders may rely on: the fake is held to the same. */
describe.each([
  ['payments', useReal],
  ['their fake', useFake]
])('%s', (_what, use) => {
  /** With all that the listener was told of committed. */
  async function useTold(options = {}) {
    const subject = await use(options)
    const { payments, db, customerId } = subject
    const told: PaymentChange[] = []
    payments.listen(async (tx, change) => tx.afterCommit(() => told.push(change)))
    const open = async (dueMinor: number, first?: object) => {
      const orderId = newId()
      const account = { orderId, customerId, currency: 'EUR', dueMinor, tokenVersion: 1, reference: 'A1' }
      await db.transaction(tx => payments.open(tx, account, first))
      return orderId
    }
    const account = (orderId: string) => payments.find(db, orderId)
    const heard = (orderId: string, wanted: Partial<PaymentChange>) =>
      until(JSON.stringify(wanted), () =>
        told.some(
          change =>
            change.orderId === orderId &&
            Object.entries(wanted).every(([key, value]) => change[key as keyof PaymentChange] === value)
        )
      )
    return { ...subject, open, account, heard, told }
  }

  test('open an account with the order, and forget it when the order is not made', async () => {
    const { payments, db, open, account } = await useTold()
    const orderId = newId()
    const failing = db.transaction(async tx => {
      await payments.open(
        tx,
        { orderId, customerId: null, currency: 'EUR', dueMinor: 5, tokenVersion: 1, reference: 'A1' },
        {}
      )
      expect(await payments.find(tx, orderId)).toMatchObject({ due: 5, committed: 5, status: 'unpaid' })
      throw new Error('refused')
    })
    await expect(failing).rejects.toThrow('refused')
    const missing = { code: 'PAYMENT_ORDER_NOT_FOUND' }
    await expect(payments.find(db, orderId)).rejects.toMatchObject(missing)
    await expect(db.transaction(tx => payments.freeze(tx, orderId))).rejects.toMatchObject(missing)
    expect(await account(await open(0, {}))).toMatchObject({ status: 'paid', committed: 0 })
    await expect(open(5, { provider: 'nobody' })).rejects.toMatchObject({ code: 'PAYMENT_PROVIDER_UNKNOWN' })
    await expect(open(5, { method: 'shells' })).rejects.toMatchObject({ code: 'PAYMENT_METHOD_UNKNOWN' })
  })

  test('return the method of the payment that an account begins with', async () => {
    const { payments, db, customerId } = await useTold()
    const begin = (dueMinor: number, first?: object) =>
      db.transaction(tx => {
        const account = { orderId: newId(), customerId, currency: 'EUR', tokenVersion: 1, reference: 'A1' }
        return payments.open(tx, { ...account, dueMinor }, first)
      })
    expect(await begin(5, { provider: 'sandbox' })).toBe('card')
    expect(await begin(5, { provider: 'manual' })).toBe('bank_transfer')
    expect([await begin(5), await begin(0, { provider: 'manual' })]).toEqual([undefined, undefined])
  })

  test('tell of what is paid, in the transaction that learns it', async () => {
    const { payments, open, account, heard, told, pay } = await useTold()
    const orderId = await open(900, {})
    await payments.proceed(orderId)
    expect(told).toMatchObject([
      { orderId, due: 900, before: 'unpaid', status: 'unpaid', isSettled: false, openMethods: ['card'] }
    ])
    await payments.proceed(orderId)
    expect(told).toHaveLength(1)
    await pay(orderId)
    await heard(orderId, { before: 'unpaid', status: 'paid', captured: 900, isSettled: true })
    expect(told.at(-1)?.openMethods).toEqual([])
    expect(await account(orderId)).toMatchObject({ status: 'paid', captured: 900, is_overpaid: false })
  })

  test('tell of what is held, and let go of it when the order is canceled', async () => {
    const { payments, db, open, heard, hold } = await useTold({ capture: 'manual' })
    const orderId = await open(900, {})
    await payments.proceed(orderId)
    await hold(orderId)
    await heard(orderId, { status: 'authorized', authorized: 900, isSettled: false })
    expect(await db.transaction(tx => payments.freeze(tx, orderId))).toMatchObject({
      isFrozen: true,
      isSettled: false
    })
    await payments.proceed(orderId)
    await heard(orderId, { status: 'unpaid', authorized: 0, committed: 0, isFrozen: true, isSettled: true })
  })

  test('cancel at once what was never sent, and take no more until it is thawed', async () => {
    const { payments, db, open, account } = await useTold()
    const orderId = await open(900, {})
    const frozen = await db.transaction(tx => payments.freeze(tx, orderId))
    expect(frozen).toMatchObject({ isFrozen: true, isSettled: true, committed: 0 })
    expect((await account(orderId)).frozen_at).not.toBeNull()
    await db.transaction(tx => payments.thaw(tx, orderId))
    expect((await account(orderId)).frozen_at).toBeNull()
  })

  test('take of what is held what is asked for, once, and say how an order may still be paid', async () => {
    const { payments, db, open, heard, hold, account } = await useTold({ capture: 'manual' })
    const orderId = await open(900, {})
    const methods = () => db.transaction(tx => payments.openMethods(tx, orderId))
    await payments.proceed(orderId)
    expect(await methods()).toEqual(['card'])
    await hold(orderId)
    await heard(orderId, { status: 'authorized', authorized: 900 })
    const capture = () =>
      db.transaction(tx => payments.capture(tx, orderId, { id: newId(), amountMinor: 600, actor: null }))
    await capture()
    await capture()
    await payments.proceed(orderId)
    await heard(orderId, { captured: 600, authorized: 0, isSettled: true })
    expect(await account(orderId)).toMatchObject({ captured: 600, committed: 600 })
    expect(await methods()).toEqual([])
    expect(await db.transaction(tx => payments.lock(tx, orderId))).toMatchObject({ captured: 600 })
    expect(await db.transaction(tx => payments.lock(tx, newId()))).toBeUndefined()
  })

  test('give back what was taken and no more', async () => {
    const { payments, db, open, account, heard, pay } = await useTold()
    const orderId = await open(900, {})
    await payments.proceed(orderId)
    await pay(orderId)
    await heard(orderId, { status: 'paid' })
    const refund = (amountMinor: number) =>
      db.transaction(tx =>
        payments.refund(tx, orderId, { id: newId(), amountMinor, reason: 'broken', actor: null })
      )
    await expect(refund(901)).rejects.toMatchObject({
      code: 'PAYMENT_REFUND_TOO_MUCH',
      details: { available: 900 }
    })
    await refund(400)
    await payments.proceed(orderId)
    await heard(orderId, { status: 'partially_refunded', refunded: 400, refunding: 0 })
    await refund(500)
    await payments.proceed(orderId)
    await heard(orderId, { status: 'refunded', refunded: 900 })
    await expect(refund(1)).rejects.toMatchObject({ details: { available: 0 } })
    expect((await account(orderId)).refunded).toBe(900)
  })

  test('ask for what is due: less lets go of a payment that asks for more, and makes one that is paid too much', async () => {
    const { payments, db, open, account, heard, pay } = await useTold()
    const change = (orderId: string, due: number) =>
      db.transaction(tx => payments.changeDue(tx, orderId, due))
    const orderId = await open(900, {})
    await payments.proceed(orderId)
    expect(await change(orderId, 600)).toMatchObject({ due: 600, committed: 900, isSettled: false })
    await payments.proceed(orderId)
    await heard(orderId, { due: 600, committed: 0, isSettled: true })
    await pay(orderId)
    await heard(orderId, { status: 'paid', captured: 600 })
    expect(await change(orderId, 500)).toMatchObject({ status: 'paid', isOverpaid: true })
    expect(await change(orderId, 700)).toMatchObject({ status: 'partially_paid', isOverpaid: false })
    expect(await change(orderId, 600)).toMatchObject({ status: 'paid', isOverpaid: false })
    expect(await account(orderId)).toMatchObject({ due: 600, status: 'paid' })
  })

  test('give tokens of a new version, and the order to a customer', async () => {
    const { payments, db, open, account } = await useTold()
    const [orderId, owner] = [await open(5), newId()]
    expect(await db.transaction(tx => payments.reissue(tx, orderId, null))).toBe(2)
    expect(await db.transaction(tx => payments.reissue(tx, orderId, owner))).toBe(3)
    expect(await account(orderId)).toMatchObject({ customer_id: owner, token_version: 3 })
  })

  test('forget whose orders they were, and keep what was paid', async () => {
    const { payments, db, open, account, customerId, pay, heard } = await useTold()
    const [paid, other] = [await open(900, {}), await open(5)]
    await payments.proceed(paid)
    await pay(paid)
    await heard(paid, { status: 'paid' })
    await db.transaction(tx => payments.forget(tx, customerId, [paid, newId()]))
    expect(await account(paid)).toMatchObject({ customer_id: null, token_version: 2, captured: 900 })
    expect(await account(other)).toMatchObject({ customer_id: customerId, token_version: 1 })
  })
})
