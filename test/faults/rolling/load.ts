import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../../src/kernel/ids.ts'
import { itemOf, STOCKHOLM } from '../../support/checkouts.ts'
import type { Answer, HttpClient } from '../../support/http-client.ts'
import type { AcknowledgedOrder } from '../failover/orders.ts'
import { findVariantIds } from '../open-load.ts'

const VARIANTS = 8
const UNITS = 1_000_000
const PASSWORD = 'an uncommon sentence'
const TICK_MS = 5

/**
 * Requests of visitors, and their outcomes. No request is repeated, and the first failure ends its visit. `overloaded`: a process
 * refused the request for lack of CPU time, which is no fault of a restart on a machine with other work.
 */
type VisitRecord = { requests: number; failed: string[]; overloaded: number; slowestMs: number }
class EndOfVisit extends Error {}
export type MixedLoad = {
  /** What was sent since the previous call. */
  takeRecord(): VisitRecord
  orders: readonly AcknowledgedOrder[]
  /** Runs clients that make one visit after the other, with pauses, until `isOver`. Returns the number of visits a second. */
  runClients(count: number, pauseMs: number, isOver: () => boolean): Promise<number>
  /** Begins this number of visits a second until `isOver`, however long earlier ones take. Returns when all have ended. */
  runAtRate(perSecond: number, isOver: () => boolean): Promise<void>
}

/**
 * Visitors of the demo shop: of 12 visits 6 read a list and a product, 3 add to a cart and read it, 1 creates a guest cart, and 2 place
 * an order, read it, and have its payment captured by the staff.
 */
export async function openMixedLoad(
  http: HttpClient,
  staff: { email: string; password: string },
  customers: number
): Promise<MixedLoad> {
  let record: VisitRecord = { requests: 0, failed: [], overloaded: 0, slowestMs: 0 }
  const orders: AcknowledgedOrder[] = []

  async function send(...[method, path, options]: Parameters<HttpClient['send']>): Promise<Answer['json']> {
    const startedAt = performance.now()
    // Limits by network are for each visitor, not for all of them.
    const from = { 'x-forwarded-for': `10.0.${randomInt(256)}.${randomInt(256)}` }
    const answer = await http.send(method, path, { ...options, headers: { ...options?.headers, ...from } })
    record.requests += 1
    record.slowestMs = Math.max(record.slowestMs, Math.round(performance.now() - startedAt))
    if (answer !== undefined && answer.status < 300) return answer.json
    const code = answer?.json?.code
    if (code === 'OVERLOADED' || code === 'DATABASE_BUSY') record.overloaded += 1
    else record.failed.push(`${method} ${path}: ${answer?.status ?? 'no response'} ${code ?? ''}`)
    throw new EndOfVisit()
  }
  const write = (path: string, token: string, body: object) =>
    send('POST', path, { token, body, headers: { 'idempotency-key': newId() } })

  const adminToken: string = (await send('POST', '/api/auth/login', { body: staff })).access_token
  const variantIds = await findVariantIds(http, VARIANTS)
  for (const id of variantIds)
    await send('PUT', `/api/inventory/levels/${id}`, { token: adminToken, body: { on_hand: UNITS } })
  const tokens: string[] = []
  while (tokens.length < customers) {
    const body = { email: `customer-${tokens.length}@example.com`, password: PASSWORD }
    tokens.push((await send('POST', '/api/auth/register', { body })).access_token)
  }
  const oneOf = (all: readonly string[]) => all[randomInt(all.length)] as string

  async function browse() {
    const { items } = await send('GET', `/api/products?limit=${1 + randomInt(20)}`)
    await send('GET', `/api/products/${items[0].id}`)
  }
  async function fillCart() {
    const token = oneOf(tokens)
    await write('/api/cart', token, itemOf(oneOf(variantIds)))
    await send('GET', '/api/cart', { token })
  }
  const fillGuestCart = () => send('POST', '/api/guest-cart', { body: itemOf(oneOf(variantIds)) })
  async function buy() {
    const token = oneOf(tokens)
    const payment = { provider: 'manual', method: 'bank_transfer' }
    const body = { items: [itemOf(oneOf(variantIds))], shipping_address: STOCKHOLM, payment }
    const { id, number, total } = await write('/api/orders', token, body)
    const order = { id, number, totalMinor: total, isCaptured: false }
    orders.push(order)
    await send('GET', `/api/orders/${id}`, { token })
    const { items } = await send('GET', `/api/admin/payments?order_id=${id}`, { token: adminToken })
    await write(`/api/admin/payments/${items[0].id}/capture`, adminToken, {})
    order.isCaptured = true
  }
  const visits = [
    browse,
    buy,
    browse,
    fillCart,
    browse,
    fillGuestCart,
    browse,
    buy,
    browse,
    fillCart,
    browse,
    fillCart
  ]
  let next = 0
  const visit = async () => {
    next += 1
    try {
      await visits[next % visits.length]?.()
    } catch (error) {
      if (!(error instanceof EndOfVisit)) throw error
    }
  }

  return {
    orders,
    takeRecord: () => {
      const taken = record
      record = { requests: 0, failed: [], overloaded: 0, slowestMs: 0 }
      return taken
    },
    runClients: async (count, pauseMs, isOver) => {
      const startedAt = performance.now()
      let ended = 0
      const runClient = async () => {
        while (!isOver()) {
          await visit()
          ended += 1
          if (pauseMs > 0) await delay(pauseMs)
        }
      }
      await Promise.all(Array.from({ length: count }, runClient))
      return (ended * 1_000) / (performance.now() - startedAt)
    },
    runAtRate: async (perSecond, isOver) => {
      const running = new Set<Promise<unknown>>()
      const startedAt = performance.now()
      for (let begun = 0; !isOver(); ) {
        const due = ((performance.now() - startedAt) / 1_000) * perSecond
        for (; begun < due; begun += 1) {
          const one = visit().finally(() => running.delete(one))
          running.add(one)
        }
        await delay(TICK_MS)
      }
      await Promise.all(running)
    }
  }
}
