import { hash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import Stripe from 'stripe'
import { onTestFinished } from 'vitest'
import { createSandboxEngine, SandboxApiError, type SandboxEngine } from '../../src/payment-sandbox/engine.ts'
import type { SandboxObject, SandboxStateChangeEntry } from '../../src/payment-sandbox/ledger.ts'

const KEY = 'sk_test_of_the_tests'
export const WEBHOOK_SECRETS = ['whsec_old', 'whsec_new']

/** Small, so that lists have several pages. */
const PAGE_MAX = 2

type Params = Record<string, unknown>
type Fault = 'drop' | 'error' | 'limit'
type StripeRequest = { path: string; key: string | undefined; params: Params }

/** Parameters of each request. Stripe rejects unknown ones. */
const PARAMS: Record<string, readonly string[]> = {
  create: ['amount', 'currency', 'capture_method', 'metadata', 'automatic_payment_methods', 'expand'],
  capture: ['amount_to_capture', 'expand'],
  cancel: ['expand'],
  refund: ['payment_intent', 'amount', 'metadata']
}

/** Starts a server with the part of Stripe's API that the shop uses: paths, forms, keys and errors. It has the sandbox's objects. */
export async function useStripe() {
  const entries: SandboxStateChangeEntry[] = []
  const engine = createSandboxEngine({ entries: [], append: entry => entries.push(entry), close: () => {} })
  const requests: StripeRequest[] = []
  const reads: string[] = []
  const faults: Fault[] = []
  const server = createServer(async (request, response) => {
    if (request.method === 'GET') reads.push(request.url ?? '')
    const { status, body } = await answer(engine, request, requests)
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
    requests,
    /** Paths of GET requests. */
    reads,
    fault: (...wanted: Fault[]) => faults.push(...wanted),
    settings: {
      CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY: KEY,
      CARTWRIGHT__PAYMENTS__STRIPE__PUBLISHABLE_KEY: 'pk_test_of_the_tests',
      CARTWRIGHT__PAYMENTS__STRIPE__WEBHOOK_SECRETS: JSON.stringify(WEBHOOK_SECRETS),
      CARTWRIGHT__PAYMENTS__STRIPE__URL: url
    },
    /** The intent of a payment, by the shop's payment id. */
    intentOf: (paymentId: string) => {
      const [intent] = engine.intentsOf(paymentId)
      if (intent === undefined) throw new Error('Stripe has no intent of this payment')
      return engine.intent(intent.id)
    },
    /** Makes lists return an object with other fields. */
    garble: (id: string, fields: object) => {
      const { listCreatedSince } = engine
      engine.listCreatedSince = (...requests) => {
        const page = listCreatedSince(...requests)
        return { ...page, data: page.data.map(each => (each.id === id ? { ...each, ...fields } : each)) }
      }
    },
    intents: () =>
      entries.flatMap(({ objects = [] }) => objects.filter(({ object }) => object === 'payment_intent')),
    /** All events, as Stripe sends them: an intent contains only the id of its charge. */
    events: () => entries.flatMap(({ events = [] }) => events).map(asSent)
  }
}
export type StripeServer = Awaited<ReturnType<typeof useStripe>>

/** Builds a callback that Stripe's own library signs. */
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

function asSent(event: SandboxObject): SandboxObject {
  const { object } = event.data as { object: SandboxObject }
  const { latest_charge: charge } = object as { latest_charge?: { id: string } | string | null }
  const flat =
    typeof charge === 'object' && charge !== null ? { ...object, latest_charge: charge.id } : object
  return { ...event, data: { object: flat } }
}

async function answer(engine: SandboxEngine, request: IncomingMessage, requests: StripeRequest[]) {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://stripe')
  const key = request.headers['idempotency-key'] as string | undefined
  const form = await text(request)
  const params = paramsOf(form)
  if (request.method === 'POST') requests.push({ path: pathname, key, params })
  try {
    if (request.headers.authorization !== `Bearer ${KEY}`)
      throw new SandboxApiError(401, 'invalid_request_error', 'api_key_invalid', 'Invalid API Key provided')
    if (request.method === 'GET') return { status: 200, body: read(engine, pathname, searchParams) }
    const fingerprint = hash('sha256', pathname + form)
    const stored = engine.storedResponse(key ?? '')
    if (stored?.fingerprint === fingerprint) return stored
    if (stored !== undefined)
      throw new SandboxApiError(400, 'idempotency_error', 'idempotency_key_reused', 'Other params')
    const change = changeOf(engine, pathname, params)
    return { status: 200, body: withoutDispute(engine.commit(change, { key: key ?? '', fingerprint })) }
  } catch (error) {
    if (!(error instanceof SandboxApiError)) throw error
    return { status: error.status, body: error.body }
  }
}

function changeOf({ operations, intent }: SandboxEngine, path: string, params: Params) {
  const [, , kind, id = '', verb = kind === 'refunds' ? 'refund' : 'create'] = path.split('/')
  const unknown = Object.keys(params).find(name => !PARAMS[verb]?.includes(name))
  if (unknown !== undefined)
    throw new SandboxApiError(
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

function read(engine: SandboxEngine, path: string, query: URLSearchParams): unknown {
  const [, , kind, id = ''] = path.split('/')
  const since = query.get('created[gte]')
  if (since !== null) {
    const object = (kind ?? '').slice(0, -1)
    const after = query.get('starting_after')
    const page = engine.listCreatedSince(
      object,
      Number(since),
      after,
      Math.min(Number(query.get('limit')), PAGE_MAX)
    )
    return { ...page, data: page.data.map(withoutDispute) }
  }
  const listOf = (data: readonly unknown[]) => ({ object: 'list', data, has_more: false })
  if (kind === 'refunds') return listOf(engine.refundsOfIntent(query.get('payment_intent') ?? ''))
  if (id !== 'search') return withoutDispute(engine.expand(engine.intent(id)))
  const paymentId = /^metadata\['payment_id'\]:'([^']+)'$/.exec(query.get('query') ?? '')?.[1] ?? ''
  return listOf(engine.intentsOf(paymentId).map(asSearched))
}
/** Removes the dispute, because a charge of Stripe contains only a flag. */
function withoutDispute(object: SandboxObject): SandboxObject {
  const { latest_charge: charge } = object as { latest_charge?: object | null }
  if (typeof charge !== 'object' || charge === null) return object
  const { dispute: _, ...rest } = charge as { dispute?: unknown }
  return { ...object, latest_charge: rest }
}
const asSearched = (object: SandboxObject) => {
  const { latest_charge: charge } = object as { latest_charge?: { id: string } | null }
  return { ...object, latest_charge: charge?.id ?? null }
}

/** Parses `metadata[order_id]=1` into an object. */
function paramsOf(form: string): Params {
  const params: Params = {}
  for (const [name, value] of new URLSearchParams(form)) {
    const [, outer = '', inner] = /^([^[]+)(?:\[([^\]]*)\])?$/.exec(name) ?? []
    if (inner === undefined) params[outer] = value
    else params[outer] = { ...(params[outer] as Params), [inner]: value }
  }
  return params
}
