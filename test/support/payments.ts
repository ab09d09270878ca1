import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type PortProvider, provide } from '../../src/kernel/ports.ts'
import type { Module } from '../../src/module.ts'
import {
  type ChangedPaymentAccountState,
  deriveOrderToken,
  type LockedOrderPaymentAccount,
  orderPaymentHooksPort,
  orderPaymentsOfApi,
  type PaymentChangeListener,
  type PaymentsApi,
  paymentsModule
} from '../../src/modules/payments/index.ts'
import { startSandboxServer } from '../../src/payment-sandbox/server.ts'
import { signSandboxWebhook } from '../../src/payment-sandbox/signature.ts'
import { admin, customer } from '../../src/testing.ts'
import { freePort } from './free-port.ts'
import { moduleProviding } from './ports.ts'
import { testSecrets } from './secrets.ts'
import { openShared } from './shared-shops.ts'
import { useShop } from './use-shop.ts'

type LedgerObject = {
  id: string
  object: string
  status: string
  amount: number
  /** Of a charge or a refund. */
  payment_intent?: string
  /** Of an intent or a refund. */
  metadata?: Readonly<Record<string, string>>
}
type Options = {
  settings?: Readonly<Record<string, string>>
  databaseUrl?: string
  sandboxUrl?: string
  /** Providers of ports of payments. */
  provides?: readonly PortProvider[]
  /** Modules in addition to payments. */
  modules?: readonly Module[]
  /** What the test double of orders does with a change. */
  applyChange?: PaymentChangeListener
}

export const WEBHOOK_SECRET = testSecrets().mac('payments.sandbox', 'webhook')
const KEY = testSecrets().mac('payments.sandbox', 'key')

/** Starts a sandbox for one test, with a ledger file. Without a port of the shop it sends no callbacks, and can be shared. */
export const useSandbox = (shopPort?: number) =>
  openShared(shopPort === undefined ? ['sandbox'] : undefined, async onFinished => {
    const sandbox = await openTestSandbox(shopPort)
    onFinished(sandbox.close)
    return sandbox
  })

/** Starts a sandbox for several tests. The caller must close it. */
export async function openTestSandbox(shopPort?: number) {
  const folder = await mkdtemp(join(tmpdir(), 'cartwright sandbox '))
  const url = shopPort === undefined ? '' : `http://127.0.0.1:${shopPort}/api/payments/callback/sandbox`
  const open = () =>
    startSandboxServer({ folder, port: 0, key: KEY, webhook: { url, secret: WEBHOOK_SECRET } })
  const sandbox = await open()
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields of any response
  const ask = async (path: string, body?: object, headers: object = {}): Promise<any> => {
    const answer = await fetch(sandbox.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${KEY}`, ...headers },
      ...(body && { body: JSON.stringify(body) })
    })
    const json = (await answer.json()) as object
    return { httpStatus: answer.status, headers: answer.headers, ...json }
  }
  return {
    folder,
    url: sandbox.url,
    close: async () => {
      await sandbox.close()
      await rm(folder, { recursive: true })
    },
    ask,
    /** The sandbox's intent of a payment, by the shop's payment id. */
    intentOf: async (paymentId: string) => (await ask(`/v1/payment_intents?payment_id=${paymentId}`)).data[0],
    /** Makes the next responses fail. */
    fault: (fault: string, times = 1, ms = 0) => ask('/test/answers', { fault, times, ms }),
    /** The objects of the ledger file in their last state. */
    objects: async () => {
      const text = await readFile(join(folder, 'ledger.jsonl'), 'utf8')
      const objects = new Map<string, LedgerObject>()
      for (const line of text.split('\n').filter(each => each !== ''))
        for (const object of JSON.parse(line).objects ?? []) objects.set(object.id, object)
      return [...objects.values()]
    }
  }
}

/** Starts a shop with payments, a test double of orders and a sandbox that sends callbacks to it, for one test, or shared. */
const openPayments = (options: Options) => {
  const { settings = {}, databaseUrl, sandboxUrl, provides = [], modules = [], applyChange } = options
  const isShared = Object.keys(options).every(name => ['settings', 'applyChange'].includes(name))
  return openShared(isShared ? ['payments', settings, applyChange] : undefined, async onFinished => {
    const port = await freePort()
    const sandbox = await openTestSandbox(port)
    onFinished(sandbox.close)
    const changes: ChangedPaymentAccountState[] = []
    const onChange: PaymentChangeListener = async (tx, account, change) => {
      tx.afterCommit(() => changes.push(change))
      await applyChange?.(tx, account, change)
    }
    const shop = await useShop(
      {
        // The first run also handles what the test started meanwhile.
        runsSchedulesAtStart: true,
        modules: [
          paymentsModule,
          moduleProviding(provide(orderPaymentHooksPort, 'test', { onChange }), ...provides),
          ...modules
        ],
        settings: { CARTWRIGHT__PAYMENTS__SANDBOX__URL: sandboxUrl ?? sandbox.url, ...settings },
        databaseUrl
      },
      onFinished
    )
    await shop.app.listen({ host: '127.0.0.1', port })
    return { shop, sandbox, changes }
  })
}

/**
 * Starts a shop with payments and a test double of orders, which opens accounts and records changes. The shop listens on a
 * port, and the sandbox sends callbacks to it.
 */
export async function usePayments(options: Options = {}) {
  const { shop, sandbox, changes } = await openPayments(options)
  const api = shop.apiOf(paymentsModule) as PaymentsApi
  const forOrders = orderPaymentsOfApi(api)
  const buyer = customer()

  const order = async (dueMinor = 10_000, customerId: string | null = buyer.id) => {
    const orderId = newId()
    const account = {
      orderId,
      customerId,
      currency: 'EUR',
      dueMinor,
      tokenVersion: 1,
      reference: `number of ${orderId}`
    }
    await shop.db.transaction(tx => api.openAccount(tx, account))
    return orderId
  }
  const intent = async (order_id: string, fields: object = {}) => {
    const { status, json, text } = await shop.as(buyer).post('/api/payments/intent', { order_id, ...fields })
    expect(status, text).toBe(201)
    return json
  }
  /** Runs `work` on the locked account of an order, in a transaction. */
  const withAccount = <T>(
    orderId: string,
    work: (account: LockedOrderPaymentAccount) => Promise<T>
  ): Promise<T> =>
    shop.db.transaction(async tx => {
      const account = await forOrders.lockAccount(tx, orderId)
      if (account === undefined) throw new Error(`no account of order ${orderId}`)
      return work(account)
    })
  /** Does what the customer does on the payment page. */
  const act = async (paymentId: string, deed: string, body: object = {}) =>
    sandbox.ask(`/test/payment_intents/${(await sandbox.intentOf(paymentId)).id}/${deed}`, body)

  return {
    ...shop,
    shop,
    sandbox,
    api,
    forOrders,
    withAccount,
    changes,
    buyer,
    admin: shop.as(admin()),
    order,
    intent,
    act,
    account: async (orderId: string) => api.findAccount(shop.db, orderId),
    /** The sandbox's objects of a payment in their last state. */
    objectsOf: async (paymentId: string) => {
      const { data } = await sandbox.ask(`/v1/payment_intents?payment_id=${paymentId}`)
      const intents = new Set(data.map(({ id }: { id: string }) => id))
      return (await sandbox.objects()).filter(each => intents.has(each.payment_intent ?? each.id))
    },
    payment: async (id: string) => (await shop.as(admin()).get(`/api/admin/payments/${id}`)).json,
    /** Makes all waiting operations, events and polls due now. */
    hurry: async () => {
      await shop.sql('update payments.operations set next_check_at = now() where settled_at is null')
      await shop.sql('update payments.events set next_check_at = now() where next_check_at is not null')
      await shop.sql('update payments.payments set next_poll_at = now()')
      await shop.sql(
        `update cartwright.jobs set due_at = now() where handler = 'payments.reconcile' and lease is null`
      )
    },
    tokenOf: (orderId: string, version = 1) => deriveOrderToken(testSecrets(), orderId, version),
    /** Sends a callback like the sandbox. */
    callback: (event: unknown, { secret = WEBHOOK_SECRET, at = new Date() } = {}) => {
      const raw = Buffer.isBuffer(event) ? event : Buffer.from(JSON.stringify(event))
      return shop.request('POST', '/api/payments/callback/sandbox', {
        body: raw,
        headers: {
          'content-type': 'application/json',
          'sandbox-signature': signSandboxWebhook(secret, raw, at)
        }
      })
    }
  }
}
export type PaymentShop = Awaited<ReturnType<typeof usePayments>>
