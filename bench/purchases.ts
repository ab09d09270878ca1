/**
 * What whole purchases cost: from the cart until the last event, mail and job of the order is handled. Statements, buffers and
 * WAL are exact on any machine. CPU can be compared within a run only.
 */
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { STOCKHOLM } from '../test/support/checkouts.ts'
import { cpuMicroseconds } from './cpu.ts'
import { type Bench, countAll, fillShop, openBench, registerUsers, type Started, startShop } from './shop.ts'
import { median, print } from './tables.ts'

const ROUNDS = 5
const PURCHASES = 20
const WARM_PURCHASES = 40
const CUSTOMERS = 20
const VARIANTS = 1_000
const PATIENCE_MS = 20_000
const POLL_MS = 5

type Buyer = 'guest' | 'customer'
const PAYMENTS = {
  pending: { provider: 'manual', method: 'bank_transfer' },
  'cash on delivery': { provider: 'manual', method: 'cash_on_delivery' },
  'captured transfer': { provider: 'manual', method: 'bank_transfer' },
  card: { provider: 'sandbox', method: 'card' }
} as const
type Method = keyof typeof PAYMENTS
const KINDS = (['guest', 'customer'] as const).flatMap(buyer =>
  (Object.keys(PAYMENTS) as Method[]).map(method => ({ name: `${buyer}, ${method}`, buyer, method }))
)

type PurchaseSetting = {
  bench: Bench
  shop: Started
  /** Not counted. */
  observer: pg.Client
  adminToken: string
  customerTokens: readonly string[]
  variantIds: readonly string[]
}
/** The mean of one purchase. */
type Cost = { statements: number; buffers: number; walBytes: number; programCpu: number; databaseCpu: number }
type Headers = Readonly<Record<string, string>>
// biome-ignore lint/suspicious/noExplicitAny: a benchmark reads fields of any response
type Json = any

/** Prints the costs of each kind of purchase, medians of rounds in turn. `post` creates the shipping rates. */
export async function comparePurchases(
  settings: Readonly<Record<string, string>>,
  openPost: (shop: Started) => Promise<{ adminToken: string }>
): Promise<void> {
  const bench = await openBench({ countsStatements: true })
  const observer = await openObserver(bench)
  try {
    const setting = await open(bench, observer, settings, openPost)
    const buy = createPurchases(setting)
    for (const { buyer, method } of KINDS)
      for (let count = 0; count < WARM_PURCHASES; count += 1) await buy(buyer, method)
    await untilHandled(observer)
    // Later statements are planned for what there is, as in a shop that has been open for a while.
    await observer.query('vacuum analyze')
    const measured = new Map<string, Cost[]>(KINDS.map(({ name }) => [name, []]))
    for (let round = 0; round < ROUNDS; round += 1)
      for (const { name, buyer, method } of KINDS)
        measured.get(name)?.push(await costOf(setting, () => buy(buyer, method)))
    report(measured)
    await setting.shop.stop()
  } finally {
    await observer.end()
    await bench.close()
  }
}

/** A connection with a role of its own, because the statements of the shop's role are counted. */
async function openObserver({ databaseUrl }: Bench): Promise<pg.Client> {
  const observer = new pg.Client({ connectionString: databaseUrl })
  await observer.connect()
  await observer.query('create role observer superuser')
  await observer.query('set role observer')
  return observer
}

async function open(
  bench: Bench,
  observer: pg.Client,
  settings: Readonly<Record<string, string>>,
  openPost: (shop: Started) => Promise<{ adminToken: string }>
): Promise<PurchaseSetting> {
  const all = { ...settings, CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '["bank_transfer","cash_on_delivery"]' }
  const first = await startShop(bench.databaseUrl, all)
  const { adminToken } = await openPost(first)
  const customers = await registerUsers(first.url, CUSTOMERS)
  await first.stop()
  await fillShop(bench.client, { variants: VARIANTS, carts: 0, lines: 0 }, [])
  await countAll(bench.client)
  const { rows } = await observer.query<{ id: string }>('select id from catalog.variants')
  return {
    ...{ bench, observer, adminToken },
    customerTokens: customers.map(({ token }) => token),
    variantIds: rows.map(({ id }) => id),
    shop: await startShop(bench.databaseUrl, all)
  }
}

async function costOf({ bench, shop, observer }: PurchaseSetting, buy: () => Promise<void>): Promise<Cost> {
  await observer.query('select pg_stat_statements_reset()')
  const pids = bench.databasePids()
  const [program, database] = [cpuMicroseconds([shop.pid]), cpuMicroseconds(pids)]
  for (let count = 0; count < PURCHASES; count += 1) {
    await buy()
    await untilHandled(observer)
  }
  const { rows } = await observer.query<{ statements: string; buffers: string; wal: string }>(`
    select sum(calls) filter (where query !~* '^(begin|commit|rollback)') as statements,
      sum(shared_blks_hit + shared_blks_read) as buffers, sum(wal_bytes) as wal
    from pg_stat_statements where userid <> 'observer'::regrole`)
  const mean = (sum: unknown) => Number(sum) / PURCHASES
  return {
    statements: mean(rows[0]?.statements),
    buffers: mean(rows[0]?.buffers),
    walBytes: mean(rows[0]?.wal),
    programCpu: mean(cpuMicroseconds([shop.pid]) - program),
    databaseCpu: mean(cpuMicroseconds(pids) - database)
  }
}

/** Waits until no event, mail, job or booking of stock is left that is due within a minute. */
async function untilHandled(observer: pg.Client): Promise<void> {
  const startedAt = performance.now()
  while (performance.now() - startedAt < PATIENCE_MS) {
    const { rows } = await observer.query(`
      select handler from cartwright.jobs where id > 0 and due_at < now() + interval '1 minute'
      union all select kind from inventory.requests where done_at is null`)
    if (rows.length === 0) return
    await delay(POLL_MS)
  }
  throw new Error('Events or jobs of a purchase are not handled.')
}

function report(measured: Map<string, Cost[]>): void {
  print(
    '| purchase | statements | buffers | WAL, kB | CPU of program + database, ms | to pending |\n|---|---:|---:|---:|---:|---:|'
  )
  const basis = new Map<string, number>()
  for (const [name, costs] of measured) {
    const of = (field: keyof Cost) => median(costs.map(cost => cost[field]))
    const cpu = median(costs.map(({ programCpu, databaseCpu }) => programCpu + databaseCpu))
    const buyer = name.split(',')[0] ?? ''
    if (!basis.has(buyer)) basis.set(buyer, cpu)
    print(
      `| ${name} | ${of('statements').toFixed(1)} | ${of('buffers').toFixed(0)} | ${(of('walBytes') / 1_000).toFixed(1)} | ` +
        `${(of('programCpu') / 1_000).toFixed(2)} + ${(of('databaseCpu') / 1_000).toFixed(2)} | ` +
        `${(cpu / (basis.get(buyer) ?? Number.NaN)).toFixed(2)} |`
    )
  }
}

/** Buys like a buyer: each page of the checkout sends what it would send, one product, to the first shipping option. */
function createPurchases({ shop, observer, adminToken, customerTokens, variantIds }: PurchaseSetting) {
  const admin = { authorization: `Bearer ${adminToken}` }
  let number = 0

  async function call(method: string, path: string, body: object, headers: Headers): Promise<Json> {
    const response = await fetch(`${shop.url}/api${path}`, {
      method,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body)
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return JSON.parse(text)
  }

  async function buy(buyer: Buyer, method: Method): Promise<void> {
    number += 1
    // Unpaid orders of one address are limited.
    const client = { 'x-forwarded-for': `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}` }
    const item = { variant_id: variantIds[number % variantIds.length], quantity: 1 }
    const { path, form, headers } = await (buyer === 'guest' ? asGuest : asCustomer)(item, client)
    const addressed = await call('PUT', path, { ...form, shipping_address: STOCKHOLM }, headers)
    const shipping_option = addressed.groups[0].options[0].id
    await call('PUT', path, { ...form, shipping_address: STOCKHOLM, shipping_option }, headers)
    const key = { 'idempotency-key': crypto.randomUUID() }
    const order = await call(
      'POST',
      `${path}/complete`,
      { payment: PAYMENTS[method] },
      { ...headers, ...key }
    )
    if (method === 'captured transfer') await capture(order.id)
    if (method === 'card') await payByCard(order, headers)
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
    const { rows } = await observer.query('select id from payments.payments where order_id = $1', [orderId])
    await call('POST', `/admin/payments/${rows[0]?.id}/capture`, {}, admin)
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
    await untilPaid(order.id)
  }

  /** The sandbox calls back after its page has answered. */
  async function untilPaid(orderId: string): Promise<void> {
    const startedAt = performance.now()
    while (performance.now() - startedAt < PATIENCE_MS) {
      const { rows } = await observer.query(
        'select from payments.accounts where order_id = $1 and captured >= due',
        [orderId]
      )
      if (rows.length === 1) return
      await delay(POLL_MS)
    }
    throw new Error('The callback of a payment does not arrive.')
  }

  return buy
}
