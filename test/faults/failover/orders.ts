import { newId } from '../../../src/kernel/ids.ts'
import { STOCKHOLM } from '../../support/checkouts.ts'
import type { HttpClient } from '../../support/http-client.ts'
import { type Load, writeUntilAcknowledged } from '../kill-load.ts'

type Sql = (text: string) => Promise<Record<string, unknown>[]>
/** An order as its buyer saw it. `isCaptured`: the shop acknowledged that its payment is captured. */
export type AcknowledgedOrder = { id: string; number: string; totalMinor: number; isCaptured: boolean }
type Staff = { email: string; password: string }

/** The orders of several buyers, and what the shop acknowledged of them. */
export type OrderLoad = {
  load: Load
  acknowledged: AcknowledgedOrder[]
  /** Places orders and captures their payments until the load stops. */
  run(): Promise<void>
}

/** Each buyer places one order after the other. A request is repeated with its key until it is acknowledged. */
export async function openOrders(load: Load, buyers: readonly string[], staff: Staff): Promise<OrderLoad> {
  const adminToken = await loginToken(load.http, staff)
  const acknowledged: AcknowledgedOrder[] = []
  const write = (path: string, token: string, body: object) =>
    writeUntilAcknowledged(load, { method: 'POST', path, token, key: newId(), body })

  async function buy(token: string): Promise<void> {
    const { json } = await write('/api/orders', token, {
      items: [{ variant_id: load.shared.keyed, quantity: 1 }],
      shipping_address: STOCKHOLM,
      payment: { provider: 'manual', method: 'bank_transfer' }
    })
    const order = { id: json.id, number: json.number, totalMinor: json.total, isCaptured: false }
    acknowledged.push(order)
    const payments = await load.http.send('GET', `/api/admin/payments?order_id=${order.id}`, {
      token: adminToken
    })
    const id = payments?.status === 200 ? payments.json.items[0]?.id : undefined
    if (id === undefined) return
    await write(`/api/admin/payments/${id}/capture`, adminToken, {})
    order.isCaptured = true
  }

  async function runBuyer(token: string): Promise<void> {
    while (!load.isStopping) await buy(token)
  }
  return { load, acknowledged, run: async () => void (await Promise.all(buyers.map(runBuyer))) }
}

async function loginToken(http: HttpClient, staff: Staff): Promise<string> {
  const answer = await http.send('POST', '/api/auth/login', { body: staff })
  if (answer?.status !== 200) throw new Error(`the login was answered ${answer?.status}`)
  return answer.json.access_token
}

/**
 * Lists the acknowledged orders and payments that the database does not have as they were acknowledged, orders that exist twice, and numbers
 * that were given twice. All buyers must have stopped, so that each of their orders was acknowledged.
 */
export async function findWrongOrders(
  acknowledged: readonly AcknowledgedOrder[],
  sql: Sql
): Promise<string[]> {
  const rows = await sql(`
    select orders.id, number, total::int as total, coalesce(captured, 0)::int as captured
    from orders.orders left join payments.accounts on accounts.order_id = orders.id`)
  const stored = new Map(rows.map(row => [row.id, row]))
  const wrong: string[] = []
  for (const { id, number, totalMinor, isCaptured } of acknowledged) {
    const order = stored.get(id)
    stored.delete(id)
    if (order === undefined) wrong.push(`order ${number} was acknowledged and is lost`)
    else if (order.number !== number || order.total !== totalMinor)
      wrong.push(`order ${number} of ${totalMinor} is stored as ${order.number} of ${order.total}`)
    else if (isCaptured && order.captured !== totalMinor)
      wrong.push(`order ${number} was paid with ${totalMinor}, and ${order.captured} are stored`)
  }
  for (const { number } of stored.values()) wrong.push(`order ${number} was stored and never acknowledged`)
  const numbers = acknowledged.map(({ number }) => number)
  for (const number of new Set(numbers))
    if (numbers.filter(each => each === number).length > 1) wrong.push(`number ${number} was given twice`)
  return wrong
}
