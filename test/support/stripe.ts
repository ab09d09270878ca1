import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import Stripe from 'stripe'
import { onTestFinished } from 'vitest'
import { createEngine, type Engine, Refused } from '../../src/modules/payments/sandbox/engine.ts'
import type { Entry, StoredObject } from '../../src/modules/payments/sandbox/ledger.ts'

const KEY = 'sk_test_of_the_tests'
export const WEBHOOK_SECRETS = ['whsec_old', 'whsec_new']

/** So few, that lists go on. */
const PAGE_MAX = 2

type Params = Record<string, unknown>
type Fault = 'drop' | 'error' | 'limit'
type Asked = { path: string; key: string | undefined; params: Params }

/** What each request may say; Stripe refuses what it does not know. */
const PARAMS: Record<string, readonly string[]> = {
  create: ['amount', 'currency', 'capture_method', 'metadata', 'automatic_payment_methods', 'expand'],
  capture: ['amount_to_capture', 'expand'],
  cancel: ['expand'],
  refund: ['payment_intent', 'amount', 'metadata']
}

/** Stripe, as far as we ask it: its addresses, its forms, its keys and its errors, over the objects of the sandbox. */
export async function useStripe() {
  const entries: Entry[] = []
  const engine = createEngine({ entries: [], append: entry => entries.push(entry), close: () => {} })
  const asked: Asked[] = []
  const reads: string[] = []
  const faults: Fault[] = []
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') reads.push(request.url ?? '')
    const { status, body } = await answer(engine, request, asked)
    const fault = request.method === 'POST' ? faults.shift() : undefined
    if (fault === 'drop') return request.socket.destroy()
    response.writeHead(fault === 'error' ? 500 : fault === 'limit' ? 429 : status, {
      'content-type': 'application/json',
      'request-id': 'req_1'
    })
    return response.end(JSON.stringify(fault === undefined ? body : { error: { type: 'api_error' } }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    engine,
    asked,
    /** What was looked up. */
    reads,
    fault: (...wanted: Fault[]) => faults.push(...wanted),
    settings: {
      CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY: KEY,
      CARTWRIGHT__PAYMENTS__STRIPE__PUBLISHABLE_KEY: 'pk_test_of_the_tests',
      CARTWRIGHT__PAYMENTS__STRIPE__WEBHOOK_SECRETS: JSON.stringify(WEBHOOK_SECRETS),
      CARTWRIGHT__PAYMENTS__STRIPE__URL: url
    },
    /** The payment as it is there, by our id of it. */
    intentOf: (paymentId: string) => {
      const [intent] = engine.intentsOf(paymentId)
      if (intent === undefined) throw new Error('Stripe knows of no such payment')
      return engine.intent(intent.id)
    },
    /** Lists an object with other fields than it has. */
    garble: (id: string, fields: object) => {
      const { madeSince } = engine
      engine.madeSince = (...asked) => {
        const page = madeSince(...asked)
        return { ...page, data: page.data.map(each => (each.id === id ? { ...each, ...fields } : each)) }
      }
    },
    intents: () =>
      entries.flatMap(({ objects = [] }) => objects.filter(({ object }) => object === 'payment_intent')),
    /** All that happened, as Stripe tells it: an event names the charge of an intent alone. */
    events: () => entries.flatMap(({ events = [] }) => events).map(asTold)
  }
}
export type StripeServer = Awaited<ReturnType<typeof useStripe>>

/** A callback as Stripe signs it, by its own library. */
export function signed(event: unknown, { secret = WEBHOOK_SECRETS[1] ?? '', at = Date.now() } = {}) {
  const payload = Buffer.isBuffer(event) ? event.toString() : JSON.stringify(event)
  const timestamp = Math.floor(at / 1_000)
  return {
    body: Buffer.from(payload),
    headers: {
      'content-type': 'application/json',
      'stripe-signature': Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp })
    }
  }
}

function asTold(event: StoredObject): StoredObject {
  const { object } = event.data as { object: StoredObject }
  const { latest_charge: charge } = object as { latest_charge?: { id: string } | string | null }
  const flat =
    typeof charge === 'object' && charge !== null ? { ...object, latest_charge: charge.id } : object
  return { ...event, data: { object: flat } }
}

async function answer(engine: Engine, request: IncomingMessage, asked: Asked[]) {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://stripe')
  const key = request.headers['idempotency-key'] as string | undefined
  const form = await text(request)
  const params = paramsOf(form)
  if (request.method === 'POST') asked.push({ path: pathname, key, params })
  try {
    if (request.headers.authorization !== `Bearer ${KEY}`)
      throw new Refused(401, 'invalid_request_error', 'api_key_invalid', 'Invalid API Key provided')
    if (request.method === 'GET') return { status: 200, body: read(engine, pathname, searchParams) }
    const fingerprint = hash('sha256', pathname + form)
    const kept = engine.keptAnswer(key ?? '')
    if (kept?.fingerprint === fingerprint) return kept
    if (kept !== undefined)
      throw new Refused(400, 'idempotency_error', 'idempotency_key_reused', 'Other params')
    const change = changeOf(engine, pathname, params)
    return { status: 200, body: withoutDispute(engine.commit(change, { key: key ?? '', fingerprint })) }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    return { status: error.status, body: error.body }
  }
}

function changeOf({ operations, intent }: Engine, path: string, params: Params) {
  const [, , kind, id = '', verb = kind === 'refunds' ? 'refund' : 'create'] = path.split('/')
  const unknown = Object.keys(params).find(name => !PARAMS[verb]?.includes(name))
  if (unknown !== undefined)
    throw new Refused(
      400,
      'invalid_request_error',
      'parameter_unknown',
      `Received unknown parameter: ${unknown}`
    )
  switch (verb) {
    case 'create':
      return operations.create({ ...params, amount: Number(params.amount) })
    case 'capture':
      return operations.capture(intent(id), { amount_to_capture: Number(params.amount_to_capture) })
    case 'cancel':
      return operations.cancel(intent(id))
    default:
      return operations.refund({ ...params, amount: Number(params.amount) })
  }
}

function read(engine: Engine, path: string, query: URLSearchParams): unknown {
  const [, , kind, id = ''] = path.split('/')
  const since = query.get('created[gte]')
  if (since !== null) {
    const object = (kind ?? '').slice(0, -1)
    const after = query.get('starting_after')
    const page = engine.madeSince(
      object,
      Number(since),
      after,
      Math.min(Number(query.get('limit')), PAGE_MAX)
    )
    return { ...page, data: page.data.map(withoutDispute) }
  }
  const listOf = (data: readonly unknown[]) => ({ object: 'list', data, has_more: false })
  if (kind === 'refunds') return listOf(engine.refundsOfIntent(query.get('payment_intent') ?? ''))
  if (id !== 'search') return withoutDispute(engine.expanded(engine.intent(id)))
  const paymentId = /^metadata\['payment_id'\]:'([^']+)'$/.exec(query.get('query') ?? '')?.[1] ?? ''
  return listOf(engine.intentsOf(paymentId).map(asSearched))
}
/** A charge of Stripe's says only that there is a dispute. */
function withoutDispute(object: StoredObject): StoredObject {
  const { latest_charge: charge } = object as { latest_charge?: object | null }
  if (typeof charge !== 'object' || charge === null) return object
  const { dispute: _, ...rest } = charge as { dispute?: unknown }
  return { ...object, latest_charge: rest }
}
const asSearched = (object: StoredObject) => {
  const { latest_charge: charge } = object as { latest_charge?: { id: string } | null }
  return { ...object, latest_charge: charge?.id ?? null }
}

/** `metadata[order_id]=1` as an object. */
function paramsOf(form: string): Params {
  const params: Params = {}
  for (const [name, value] of new URLSearchParams(form)) {
    const [, outer = '', inner] = /^([^[]+)(?:\[([^\]]*)\])?$/.exec(name) ?? []
    if (inner === undefined) params[outer] = value
    else params[outer] = { ...(params[outer] as Params), [inner]: value }
  }
  return params
}
