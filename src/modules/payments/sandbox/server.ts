import { hash, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { createEngine, type Engine, Refused } from './engine.ts'
import { say, sayPage, textOf } from './http.ts'
import { openLedger, type StoredObject } from './ledger.ts'
import { type Intent, objectId } from './objects.ts'
import { missingPage, payPage } from './page.ts'
import { createWebhooks, type Webhooks } from './webhooks.ts'

export type SandboxOptions = {
  folder: string
  port: number
  /** What callers of its API send as their bearer token. */
  key: string
  webhook: { url: string; secret: string }
}
/**
 * What goes wrong with the next answers of its API. `drop`: done, and the connection ends without an answer. `strange`: it
 * tells another amount.
 */
type AnswerFault = { fault: 'drop' | 'delay' | 'error' | 'strange'; times: number; ms: number }
type Body = Record<string, unknown>
type Deps = { engine: Engine; webhooks: Webhooks; faults: AnswerFault[]; running: Set<string> }

/** A payment service that moves no money. Listens on this machine alone. */
export async function openSandbox({ folder, port, key, webhook }: SandboxOptions) {
  const ledger = openLedger(folder)
  const engine = createEngine(ledger)
  const webhooks = createWebhooks({ engine, ...webhook })
  const deps: Deps = { engine, webhooks, faults: [], running: new Set() }
  const server = createServer((request, response) => {
    answer(deps, key, request, response).catch(error => {
      if (error instanceof Refused) say(response, error.status, error.body)
      else say(response, 500, { error: { type: 'api_error', message: String(error) } })
    })
  })
  // Pages of payments that were begun before keep their address, if nobody else has taken it.
  const place = join(folder, 'port')
  const last = port === 0 ? Number(readIfThere(place)) : port
  const isFree = await listen(server, last).then(
    () => true,
    error => {
      if (port !== 0) throw error
      return false
    }
  )
  // Who has it may be the sandbox of the shop that runs, beside which a command has started this one.
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
    throw new Refused(401, 'invalid_request_error', 'api_key_invalid', 'The key of the sandbox is wrong.')
  if (request.method === 'GET') return say(response, 200, read(deps.engine, kind, id, searchParams))
  const text = await textOf(request)
  const body = JSON.parse(text === '' ? '{}' : text) as Body
  if (area === 'test') return say(response, 200, misbehave(deps, kind, id, verb, body))
  const idempotencyKey = request.headers['idempotency-key']
  await onceByKey(
    deps,
    request,
    response,
    String(idempotencyKey ?? ''),
    hash('sha256', pathname + text),
    () => changeOf(deps.engine, kind, id, verb, body)
  )
}

/** What the books are called in addresses, and what stands in them. */
const BOOKS: Readonly<Record<string, string>> = {
  payment_intents: 'payment_intent',
  refunds: 'refund',
  disputes: 'dispute'
}

function read(engine: Engine, kind: string, id: string, query: URLSearchParams): unknown {
  const [book, since] = [BOOKS[kind], query.get('created[gte]')]
  if (book !== undefined && since !== null)
    return engine.madeSince(book, Number(since), query.get('starting_after'), Number(query.get('limit')))
  if (kind === 'refunds') return listOf(engine.refundsOf(query.get('operation_id') ?? ''))
  if (kind !== 'payment_intents') throw notThere()
  return id === ''
    ? listOf(engine.intentsOf(query.get('payment_id') ?? ''))
    : engine.expanded(engine.intent(id))
}
const listOf = (data: readonly StoredObject[]) => ({ object: 'list', data, has_more: false })
const notThere = () =>
  new Refused(404, 'invalid_request_error', 'resource_missing', 'There is no such address.')

function changeOf({ operations, intent }: Engine, kind: string, id: string, verb: string, body: Body) {
  switch (`${kind}/${verb}`) {
    case 'payment_intents/':
      return operations.create(body)
    case 'payment_intents/capture':
      return operations.capture(intent(id), body)
    case 'payment_intents/cancel':
      return operations.cancel(intent(id))
    case 'refunds/':
      return operations.refund(body)
    default:
      throw notThere()
  }
}

/** One key is one deed: its answer is kept, a refusal too, until the sandbox's clock has gone on for a day. */
async function onceByKey(
  deps: Deps,
  request: IncomingMessage,
  response: ServerResponse,
  key: string,
  fingerprint: string,
  change: () => Parameters<Engine['commit']>[0]
): Promise<void> {
  const { engine, webhooks, running } = deps
  const of = key === '' ? undefined : { key, fingerprint }
  if (running.has(key))
    throw new Refused(
      409,
      'idempotency_error',
      'idempotency_key_in_use',
      'The first request is still running.'
    )
  const kept = key === '' ? undefined : engine.keptAnswer(key)
  if (kept !== undefined && kept.fingerprint !== fingerprint)
    throw new Refused(
      400,
      'idempotency_error',
      'idempotency_key_reused',
      'The key came with another request.'
    )
  if (of !== undefined) running.add(key)
  try {
    const said = kept ?? perform(engine, change, of)
    webhooks.wake()
    const fault = nextFault(deps)
    if (fault?.fault === 'delay') await delay(fault.ms)
    if (fault?.fault === 'drop') request.socket.destroy()
    else if (fault?.fault === 'error') say(response, 500, { error: { type: 'api_error' } })
    else if (fault?.fault === 'strange')
      say(response, said.status, { ...(said.body as Body), amount: 99_999 })
    else say(response, said.status, said.body, kept && { 'idempotent-replayed': 'true' })
  } finally {
    running.delete(key)
  }
}

function perform(
  engine: Engine,
  change: () => Parameters<Engine['commit']>[0],
  key: { key: string; fingerprint: string } | undefined
): { status: number; body: unknown } {
  try {
    return { status: 200, body: engine.commit(change(), key) }
  } catch (error) {
    if (!(error instanceof Refused)) throw error
    if (key !== undefined) engine.keepRefusal(key, error)
    return error
  }
}

function nextFault({ faults }: Deps): AnswerFault | undefined {
  const [fault] = faults
  if (fault === undefined) return undefined
  fault.times -= 1
  if (fault.times <= 0) faults.shift()
  return fault
}

/** What may go wrong at a provider, on request. */
function misbehave(
  { engine, webhooks, faults }: Deps,
  kind: string,
  id: string,
  verb: string,
  body: Body
): unknown {
  const { operations, intent, refund } = engine
  const commit = (change: Parameters<Engine['commit']>[0]) => {
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
      return commit(operations.pay(intent(id), objectId('pm')))
    case 'payment_intents/require_action':
      return commit(operations.requireAction(intent(id), objectId('pm')))
    case 'payment_intents/fail':
      return commit(operations.fail(intent(id), intent(id).payment_method ?? objectId('pm')))
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
      throw notThere()
  }
}

async function page(
  { engine, webhooks }: Deps,
  id: string,
  query: URLSearchParams,
  request: IncomingMessage,
  response: ServerResponse
): Promise<void> {
  const form = request.method === 'POST' ? new URLSearchParams(await textOf(request)) : query
  const [clientSecret, returnUrl] = [form.get('client_secret') ?? '', form.get('return_url') ?? '']
  const intent = intentOf(engine, id, clientSecret)
  if (intent === undefined) return sayPage(response, 404, missingPage())
  if (request.method === 'POST') {
    perform(engine, () => outcomeOf(engine, intent, form.get('outcome') ?? ''), undefined)
    webhooks.wake()
    // A reload repeats the request for the page, and not the payment.
    const query = new URLSearchParams({ client_secret: clientSecret, return_url: returnUrl })
    response.writeHead(303, { location: `/pay/${id}?${query}` }).end()
    return
  }
  sayPage(response, 200, payPage(intent, returnUrl))
}

function intentOf(engine: Engine, id: string, clientSecret: string): Intent | undefined {
  try {
    const intent = engine.intent(id)
    return areEqual(clientSecret, intent.client_secret) ? intent : undefined
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}

function outcomeOf({ operations: { pay, requireAction, fail } }: Engine, intent: Intent, name: string) {
  const outcomes = { pay, authenticate: requireAction, fail }
  const outcome = Object.hasOwn(outcomes, name) ? outcomes[name as keyof typeof outcomes] : undefined
  if (outcome === undefined) throw notThere()
  return outcome(intent, intent.payment_method ?? objectId('pm'))
}

function areEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
