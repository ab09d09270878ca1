/** Whole purchases, sent as a shop front sends them: from the cart until the last event, mail and job of the order is handled. */
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../faults/until.ts'
import { STOCKHOLM } from './checkouts.ts'

export type Buyer = 'guest' | 'customer'
export const PURCHASE_PAYMENTS = {
  pending: { provider: 'manual', method: 'bank_transfer' },
  'cash on delivery': { provider: 'manual', method: 'cash_on_delivery' },
  'captured transfer': { provider: 'manual', method: 'bank_transfer' },
  card: { provider: 'sandbox', method: 'card' }
} as const
export type PurchasePayment = keyof typeof PURCHASE_PAYMENTS
/** The settings of a shop that offers these payments, and that one address may order from many times. */
export const PURCHASE_SETTINGS = {
  CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '["bank_transfer","cash_on_delivery"]',
  CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
  CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1000000',
  CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '1000000',
  // Every purchase has an address of its own, because their number is limited.
  CARTWRIGHT__SERVER__TRUST_PROXY: 'true'
}

/** Runs SQL that is not counted. */
type RunSql = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>
type PurchaseShop = {
  url: string
  sql: RunSql
  adminToken: string
  customerTokens: readonly string[]
  variantIds: readonly string[]
  /** Runs before a buyer pays by card. */
  beforeCard?: (orderId: string) => Promise<void>
}
type Headers = Readonly<Record<string, string>>
// biome-ignore lint/suspicious/noExplicitAny: reads fields of any response
type Json = any

const PATIENCE_MS = 20_000
const POLL_MS = 5

/** Waits until no event, mail, job or booking of stock is left that is due within a minute. */
export async function untilPurchasesAreHandled(sql: RunSql): Promise<void> {
  const isHandled = async () => {
    const open = await sql(`
      select handler from cartwright.jobs where id > 0 and due_at < now() + interval '1 minute'
      union all select kind from inventory.requests where done_at is null
      union all select 'positions' from cartwright.events
      where id > (select coalesce(max(last_id), 0) from cartwright.event_batches)`)
    return open.length === 0
  }
  await until('events and jobs of purchases are handled', isHandled, PATIENCE_MS)
}

/** Buys like a buyer: each page of the checkout sends what it would send, one product, to the first shipping option. */
export function createPurchases({
  url: shopUrl,
  sql,
  adminToken,
  customerTokens,
  variantIds,
  beforeCard = async () => {}
}: PurchaseShop) {
  const admin = { authorization: `Bearer ${adminToken}` }
  const untilHandled = () => untilPurchasesAreHandled(sql)
  let number = 0

  async function call(method: string, path: string, body: object, headers: Headers): Promise<Json> {
    const response = await fetch(`${shopUrl}/api${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  async function asGuest(item: object, client: Headers) {
    const { guest_cart_token } = await call('POST', '/guest-cart', item, client)
    const { id, checkout_token } = await call('POST', '/checkouts/guest', { guest_cart_token }, client)
    return {
      path: `/checkouts/guest/${id}`,
      form: { guest_cart_token, email: `guest-${number}@example.com` },
      headers: { ...client, 'x-checkout-token': checkout_token }
    }
  }

  async function asCustomer(item: object, client: Headers) {
    const token = customerTokens[number % customerTokens.length]
    const headers = { ...client, authorization: `Bearer ${token}` }
    await call('POST', '/cart', item, headers)
    const { id } = await call('POST', '/checkouts', { cart: true }, headers)
    return { path: `/checkouts/${id}`, form: { cart: true }, headers }
  }

  async function capture(orderId: string): Promise<void> {
    const [payment] = await sql('select id from payments.payments where order_id = $1', [orderId])
    await call('POST', `/admin/payments/${payment?.id}/capture`, {}, admin)
  }

  /** Pays on the page of the sandbox, which calls the shop back. */
  async function payByCard(order: Json, headers: Headers): Promise<void> {
    const path = order.order_token === undefined ? '/payments/intent' : '/payments/guest/intent'
    const token = { ...headers, ...(order.order_token && { 'x-order-token': order.order_token }) }
    let url: string | null = order.payment?.redirect_url ?? null
    while (url === null) {
      await delay(POLL_MS)
      url = (await call('POST', path, { order_id: order.id }, token)).redirect_url
    }
    const page = new URL(url)
    const body = new URLSearchParams({ ...Object.fromEntries(page.searchParams), outcome: 'pay' })
    const response = await fetch(page, { method: 'POST', body, redirect: 'manual' })
    if (response.status !== 303) throw new Error(`POST ${page}: ${response.status} ${await response.text()}`)
    // The sandbox calls back after its page has answered.
    const isPaid = async () => {
      const paid = 'select from payments.accounts where order_id = $1 and captured >= due'
      return (await sql(paid, [order.id])).length === 1
    }
    await until('the callback of the payment has arrived', isPaid, PATIENCE_MS)
  }

  return {
    buy: async (buyer: Buyer, payment: PurchasePayment): Promise<void> => {
      number += 1
      const client = {
        'x-forwarded-for': `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`
      }
      const item = { variant_id: variantIds[number % variantIds.length], quantity: 1 }
      const { path, form, headers } = await (buyer === 'guest' ? asGuest : asCustomer)(item, client)
      const addressed = await call('PUT', path, { ...form, shipping_address: STOCKHOLM }, headers)
      const shipping_option = addressed.groups[0].options[0].id
      await call('PUT', path, { ...form, shipping_address: STOCKHOLM, shipping_option }, headers)
      const order = await call(
        'POST',
        `${path}/complete`,
        { payment: PURCHASE_PAYMENTS[payment] },
        { ...headers, 'idempotency-key': crypto.randomUUID() }
      )
      // Until a buyer has paid, all else is done long since.
      await untilHandled()
      if (payment === 'captured transfer') await capture(order.id)
      if (payment !== 'card') return
      await beforeCard(order.id)
      await untilHandled()
      await payByCard(order, headers)
    },
    untilHandled
  }
}
