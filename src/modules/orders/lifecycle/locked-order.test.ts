import { expect, test } from 'vitest'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { listDeclaredStatements } from '../../../platform/postgres/statement.ts'
import '../index.ts'
import { registerLockedOrder, updateLockedOrder } from './locked-order.ts'
import { type LockedOrderRow, updateOrderPaymentStatus } from './repository.ts'

const ROW: LockedOrderRow = {
  id: '01981d5e-0000-7000-8000-000000000001',
  number: '1001',
  state: 'pending',
  terms: 'prepaid',
  customer_id: null,
  mailbox: null,
  token_version: 1,
  cart_id: null,
  currency: 'EUR',
  tendered: 0,
  total: 1_000,
  payment_status: 'unpaid',
  cancel_requested_by: null,
  held_at: null,
  erased_at: null,
  is_deferred: false,
  is_buyer_verified: false,
  canceled_for: null,
  version: 1,
  has_expired: false
}
const PAID = {
  payment_status: 'paid',
  is_overpaid: false,
  is_disputed: false,
  paymentTimeoutSeconds: 0
} as const
/** A transaction whose update returns this row. */
const returning = (row: LockedOrderRow | undefined) => ({ first: async () => row }) as unknown as Transaction
const lockIn = (tx: Transaction) => registerLockedOrder(tx, { account: undefined, order: ROW, lines: [] })

test('an update of a locked order returns the order with the columns of its row', async () => {
  const tx = returning({ ...ROW, payment_status: 'paid', version: 2 })
  const updated = await updateLockedOrder(tx, lockIn(tx), updateOrderPaymentStatus, PAID)
  expect(updated.order.version).toBe(2)
  expect(updated.lifecycle.paymentStatus).toBe('paid')
})

test('an update that changes no row returns the locked order, which can be updated again', async () => {
  const tx = returning(undefined)
  const locked = lockIn(tx)
  expect(await updateLockedOrder(tx, locked, updateOrderPaymentStatus, PAID)).toBe(locked)
  expect(await updateLockedOrder(tx, locked, updateOrderPaymentStatus, PAID)).toBe(locked)
})

test('a locked order that was updated since is rejected', async () => {
  const tx = returning({ ...ROW, version: 2 })
  const locked = lockIn(tx)
  await updateLockedOrder(tx, locked, updateOrderPaymentStatus, PAID)
  await expect(updateLockedOrder(tx, locked, updateOrderPaymentStatus, PAID)).rejects.toThrow(
    'orders.update_payment got an order as it was before another change of the transaction'
  )
})

/** Updates of orders without `updateLockedOrder`, with the reason. */
const OTHERS: Readonly<Record<string, string>> = {
  'orders.defer_order':
    'runs before the transaction locks the order, when it is placed or its payment starts',
  'orders.note_contested': 'changes a column that no locked order has, when the order is placed',
  'orders.erase_orders': 'changes many orders, which are locked without their lines',
  'orders.update_metadata': 'changes metadata and the version, in a transaction of its own'
}

test('every other statement that updates orders has a reason', () => {
  const updates = listDeclaredStatements()
    .filter(({ text }) => /\bupdate orders\.orders\b/.test(text))
    .filter(({ gives }) => !('has_expired' in gives))
    .map(({ name }) => name)
  expect(updates.toSorted()).toEqual(Object.keys(OTHERS).toSorted())
})
