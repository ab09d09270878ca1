import { hash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createSandboxEngine, SandboxApiError, type SandboxEngine } from './engine.ts'
import { readSandboxRequestBody, sendSandboxHtml, sendSandboxJson } from './http.ts'
import { openSandboxLedger, type SandboxObject } from './ledger.ts'
import { newSandboxObjectId, type SandboxIntent } from './objects.ts'
import { renderMissingPaymentPage, renderSandboxPaymentPage } from './page.ts'
import { createSandboxWebhooks, type SandboxWebhooks } from './webhooks.ts'

export type SandboxOptions = {
  folder: string
  port: number
  /** What callers of its API send as their bearer token. */
  key: string
  webhook: { url: string; secret: string }
}
/**
 * A fault of the next API responses, for tests. `drop`: the operation is done and the connection closes without a response.
 * `strange`: the response states a wrong amount.
 */
type AnswerFault = { fault: 'drop' | 'delay' | 'error' | 'strange'; times: number; ms: number }
type Body = Record<string, unknown>
type Deps = { engine: SandboxEngine; webhooks: SandboxWebhooks; faults: AnswerFault[]; running: Set<string> }

/** Starts a payment provider that moves no money. It listens on localhost only. */
export async function openSandbox({ folder, port, key, webhook }: SandboxOptions) {
  const ledger = openSandboxLedger(folder)
  const engine = createSandboxEngine(ledger)
  const webhooks = createSandboxWebhooks({ engine, ...webhook })
  const deps: Deps = { engine, webhooks, faults: [], running: new Set() }
  const server = createServer((request, response) => {
    answer(deps, key, request, response).catch(error => {
      if (error instanceof SandboxApiError) sendSandboxJson(response, error.status, error.body)
      else sendSandboxJson(response, 500, { error: { type: 'api_error', message: String(error) } })
    })
  })
  // Reuses the last port if it is free, so that payment pages of earlier payments keep their URL.
  const place = join(folder, 'port')
  const last = port === 0 ? Number(readIfThere(place)) : port
  const isFree = await listen(server, last).then(
    () => true,
    error => {
      if (port !== 0) throw error
      return false
    }
  )
  // The port may belong to the sandbox of a running shop, while a command started this one.
  if (!isFree) await listen(server, 0)
  const listening = (server.address() as AddressInfo).port
  if (isFree) writeFileSync(place, String(listening))
  return {
    url: `http://127.0.0.1:${listening}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
      await webhooks.stop()
      ledger.close()
    }
  }
}

async function listen(server: Server, port: number): Promise<void> {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

const readIfThere = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')

async function answer(deps: Deps, key: string, request: IncomingMessage, response: ServerResponse) {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://sandbox')
  const [, area = '', kind = '', id = '', verb = ''] = pathname.split('/')
  if (area === 'pay') return page(deps, kind, searchParams, request, response)
  if (!areEqual(request.headers.authorization ?? '', `Bearer ${key}`))
    throw new SandboxApiError(
      401,
      'invalid_request_error',
      'api_key_invalid',
      'The key of the sandbox is wrong.'
    )
  if (request.method === 'GET')
    return sendSandboxJson(response, 200, read(deps.engine, kind, id, searchParams))
  const text = await readSandboxRequestBody(request)
  const body = JSON.parse(text === '' ? '{}' : text) as Body
  if (area === 'test') return sendSandboxJson(response, 200, runTestRequest(deps, kind, id, verb, body))
  const idempotencyKey = request.headers['idempotency-key']
  await runOncePerKey(
    deps,
    request,
    response,
    String(idempotencyKey ?? ''),
    hash('sha256', pathname + text),
    () => changeFor(deps.engine, `${kind}/${verb}`, id, body)
  )
}

/** Object types by their name in paths. */
const OBJECT_TYPES: Readonly<Record<string, string>> = {
  payment_intents: 'payment_intent',
  refunds: 'refund',
  disputes: 'dispute'
}

function read(engine: SandboxEngine, kind: string, id: string, query: URLSearchParams): unknown {
  const [type, since] = [OBJECT_TYPES[kind], query.get('created[gte]')]
  if (type !== undefined && since !== null)
    return engine.listCreatedSince(
      type,
      Number(since),
      query.get('starting_after'),
      Number(query.get('limit'))
    )
  if (kind === 'refunds') return listOf(engine.refundsOf(query.get('operation_id') ?? ''))
  if (kind !== 'payment_intents') throw pathNotFound()
  return id === ''
    ? listOf(engine.intentsOf(query.get('payment_id') ?? ''))
    : engine.expand(engine.intent(id))
}
const listOf = (data: readonly SandboxObject[]) => ({ object: 'list', data, has_more: false })
const pathNotFound = () =>
  new SandboxApiError(404, 'invalid_request_error', 'resource_missing', 'There is no such path.')

function changeFor({ operations, intent }: SandboxEngine, path: string, id: string, body: Body) {
  switch (path) {
    case 'payment_intents/':
      return operations.create(body)
    case 'payment_intents/capture':
      return operations.capture(intent(id), body)
    case 'payment_intents/cancel':
      return operations.cancel(intent(id))
    case 'refunds/':
      return operations.refund(body)
    default:
      throw pathNotFound()
  }
}

/** Runs a request once per idempotency key. Its response, errors included, is replayed for a day of the sandbox's clock. */
async function runOncePerKey(
  deps: Deps,
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
  fingerprint: string,
  change: () => Parameters<SandboxEngine['commit']>[0]
): Promise<void> {
  const { engine, webhooks, running } = deps
  const of = key === '' ? undefined : { key, fingerprint }
  if (running.has(key))
    throw new SandboxApiError(
      409,
      'idempotency_error',
      'idempotency_key_in_use',
      'The first request is still running.'
    )
  const stored = key === '' ? undefined : engine.storedResponse(key)
  if (stored !== undefined && stored.fingerprint !== fingerprint)
    throw new SandboxApiError(
      400,
      'idempotency_error',
      'idempotency_key_reused',
      'The key came with another request.'
    )
  if (of !== undefined) running.add(key)
  try {
    const outcome = stored ?? runChange(engine, change, of)
    webhooks.wake()
    const fault = takeFault(deps)
    if (fault?.fault === 'delay') await delay(fault.ms)
    if (fault?.fault === 'drop') request.socket.destroy()
    else if (fault?.fault === 'error') sendSandboxJson(response, 500, { error: { type: 'api_error' } })
    else if (fault?.fault === 'strange')
      sendSandboxJson(response, outcome.status, { ...(outcome.body as Body), amount: 99_999 })
    else sendSandboxJson(response, outcome.status, outcome.body, stored && { 'idempotent-replayed': 'true' })
  } finally {
    running.delete(key)
  }
}

function runChange(
  engine: SandboxEngine,
  change: () => Parameters<SandboxEngine['commit']>[0],
  key: { key: string; fingerprint: string } | undefined
): { status: number; body: unknown } {
  try {
    return { status: 200, body: engine.commit(change(), key) }
  } catch (error) {
    if (!(error instanceof SandboxApiError)) throw error
    if (key !== undefined) engine.storeError(key, error)
    return error
  }
}

function takeFault({ faults }: Deps): AnswerFault | undefined {
  const [fault] = faults
  if (fault === undefined) return undefined
  fault.times -= 1
  if (fault.times <= 0) faults.shift()
  return fault
}

/** Runs the test API: payments, faults and time that a test requests. */
function runTestRequest(
  { engine, webhooks, faults }: Deps,
  kind: string,
  id: string,
  verb: string,
  body: Body
): unknown {
  const { operations, intent, refund } = engine
  const commit = (change: Parameters<SandboxEngine['commit']>[0]) => {
    const object = engine.commit(change)
    webhooks.wake()
    return object
  }
  switch (verb === '' ? kind : `${kind}/${verb}`) {
    case 'answers': {
      const { fault, times = 1, ms = 0 } = body as Partial<AnswerFault>
      if (fault === undefined) faults.length = 0
      else faults.push({ fault, times, ms })
      return { faults }
    }
    case 'webhooks':
      Object.assign(webhooks.faults, body)
      webhooks.wake()
      return webhooks.faults
    case 'clock':
      engine.advance(Number(body.advance_seconds))
      return { now: engine.now() }
    case 'payment_intents/pay':
      return commit(operations.pay(intent(id), newSandboxObjectId('pm')))
    case 'payment_intents/require_action':
      return commit(operations.requireAction(intent(id), newSandboxObjectId('pm')))
    case 'payment_intents/fail':
      return commit(operations.fail(intent(id), intent(id).payment_method ?? newSandboxObjectId('pm')))
    case 'payment_intents/expire':
      return commit(operations.cancel(intent(id), 'expired'))
    case 'payment_intents/capture':
      return commit(operations.capture(intent(id), body))
    case 'payment_intents/capture_late':
      return commit(operations.captureLate(intent(id)))
    case 'payment_intents/dispute':
      return commit(operations.dispute(intent(id)))
    case 'refunds/fail':
      return commit(operations.failRefund(refund(id)))
    default:
      throw pathNotFound()
  }
}

async function page(
  { engine, webhooks }: Deps,
  id: string,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> {
  const form = request.method === 'POST' ? new URLSearchParams(await readSandboxRequestBody(request)) : query
  const [clientSecret, returnUrl] = [form.get('client_secret') ?? '', form.get('return_url') ?? '']
  const intent = intentOf(engine, id, clientSecret)
  if (intent === undefined) return sendSandboxHtml(response, 404, renderMissingPaymentPage())
  if (request.method === 'POST') {
    runChange(engine, () => outcomeOf(engine, intent, form.get('outcome') ?? ''), undefined)
    webhooks.wake()
    // Redirects, so that a reload requests the page and does not repeat the payment.
    const query = new URLSearchParams({ client_secret: clientSecret, return_url: returnUrl })
    response.writeHead(303, { location: `/pay/${id}?${query}` }).end()
    return
  }
  sendSandboxHtml(response, 200, renderSandboxPaymentPage(intent, returnUrl))
}

function intentOf(engine: SandboxEngine, id: string, clientSecret: string): SandboxIntent | undefined {
  try {
    const intent = engine.intent(id)
    return areEqual(clientSecret, intent.client_secret) ? intent : undefined
  } catch (error) {
    if (error instanceof SandboxApiError) return undefined
    throw error
  }
}

function outcomeOf(
  { operations: { pay, requireAction, fail } }: SandboxEngine,
  intent: SandboxIntent,
  name: string
) {
  const outcomes = { pay, authenticate: requireAction, fail }
  const outcome = Object.hasOwn(outcomes, name) ? outcomes[name as keyof typeof outcomes] : undefined
  if (outcome === undefined) throw pathNotFound()
  return outcome(intent, intent.payment_method ?? newSandboxObjectId('pm'))
}

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
