import { expect, test } from 'vitest'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

/** Statements after which the request opens its next transaction, or which follow the lock in one of these. */
const BOUNDARIES = [
  'payments.list_open_operations_of',
  'payments.find_order_of_operation',
  'payments.claim_operation'
]

/** Counts the locks of payment accounts in each transaction of a request. */
function locksOf(statements: readonly string[]): number[] {
  const transactions: string[][] = [[]]
  for (const name of statements) {
    if (BOUNDARIES.includes(name)) transactions.push([])
    else transactions.at(-1)?.push(name)
  }
  return transactions.map(names => names.filter(name => name.startsWith('payments.lock_account')).length)
}

async function usePaidTransfers() {
  const shop = await useOrders()
  await shop.stock(shop.mug, 20)
  const buyer = shop.as(customer())
  const order = async (): Promise<string> =>
    (await buyer.post('/api/orders', { ...sent(shop.mug, 2), payment: TRANSFER })).json.id
  const pay = async (id: string) => {
    const [payment] = await shop.sql('select id from payments.payments where order_id = $1', [id])
    return shop.admin.post(`/api/admin/payments/${payment?.id}/capture`, {})
  }
  const paid = async () => {
    const id = await order()
    await pay(id)
    return id
  }
  return { ...shop, order, paid, pay }
}

test('each transaction of a refund locks the payment account once', async () => {
  const { admin, order, paid, pay, record } = await usePaidTransfers()
  const reason = 'a scratch'
  const [amount, lines, whole, unpaid, ordered] = [
    await paid(),
    await paid(),
    await paid(),
    await order(),
    await order()
  ]
  const requests = {
    'refund an amount': () => admin.post(`/api/admin/orders/${amount}/refunds`, { amount: 500, reason }),
    'cancel a line': () =>
      admin.post(`/api/admin/orders/${lines}/cancel`, { lines: [{ line: 1, quantity: 1 }] }),
    'cancel a paid order': () => admin.post(`/api/admin/orders/${whole}/cancel`, {}),
    'cancel an unpaid order': () => admin.post(`/api/admin/orders/${unpaid}/cancel`, {}),
    'capture a payment': () => pay(ordered)
  }
  for (const [name, request] of Object.entries(requests)) {
    const { result, statements } = await record(request)
    expect(result.status, result.text).toBe(200)
    const [own, ...others] = locksOf(statements)
    expect(own, `${name}\n${statements.join('\n')}`).toBe(1)
    // A worker may send the operation first. Then the request finds nothing to send.
    expect(Math.max(...others), `${name}\n${statements.join('\n')}`).toBeLessThanOrEqual(1)
  }
})
